"""Introduces itself for ever."""

import time

from loop import say

while True:
    say("id name still me")
    time.sleep(0.001)
