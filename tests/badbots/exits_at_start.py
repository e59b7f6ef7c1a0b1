"""Ends before it says a word."""

import sys

sys.exit(3)
