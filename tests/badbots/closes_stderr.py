"""Closes its standard error, which is its own affair."""

import os

from loop import Bot

os.close(2)
Bot().run()
