"""The laboratory: options of bots tuned by games, positions with what was thought of them, evaluations fitted to these.

It plans what is to be played and reckons with what came of it; where games are played is somebody else's to say.
"""
