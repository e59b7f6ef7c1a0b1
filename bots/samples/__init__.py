"""Sample bots: opponents to test against, from random moves to the strongest search here; each is a program."""
