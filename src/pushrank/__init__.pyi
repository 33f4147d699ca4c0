from pushrank import datasets as datasets
from pushrank import exceptions as exceptions
from pushrank import losses as losses
from pushrank import metrics as metrics
from pushrank import prices as prices
from pushrank import risks as risks
from pushrank import solvers as solvers
from pushrank import spaces as spaces
from pushrank import tops as tops
from pushrank._version import __version__ as __version__
from pushrank.estimators import PushRanker as PushRanker
from pushrank.metrics import Budget as Budget
from pushrank.prices import Identity as Identity
from pushrank.prices import Power as Power
from pushrank.prices import TopFraction as TopFraction
from pushrank.tops import Maximum as Maximum
from pushrank.tops import MeanOfTop as MeanOfTop
from pushrank.tops import Quantile as Quantile
from pushrank.tops import SoftTop as SoftTop

__all__: list[str]
