"""Sample bots: opponents to test against, from random moves to the strongest search here. Each module is a program."""
