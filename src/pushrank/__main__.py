"""`python -m pushrank` is the command `pushrank`."""

from pushrank.cli import main

if __name__ == "__main__":
    main()
