"""Analysis of games by an engine: winning chances of each position, lost chances of each move, marks such as `??`.

    win_model       scores to winning chances, by a logistic curve per family
    fit             fits a win model to scores and results
    engine          runs a bot as the analysis engine of one game
    marking         losses and marks from evaluated positions, without I/O
    budget          nodes per search
    game_analysis   analyses a whole game
    storage         stores analyses and win models in the database

The same game, engine and number of nodes give the same analysis.
"""
