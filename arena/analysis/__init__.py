"""Analysis of games by an engine: winning chances of each position, lost chances of each move, marks such as `??`.

    win_model       scores to winning chances, by a logistic curve per family, fitted to scores and results
    engine          runs a bot as the analysis engine of one game, or of the analysis board
    marking         losses and marks from evaluated positions, without I/O
    game_analysis   analyses a whole game, within a budget of nodes
    storage         stores analyses and win models in the database

The same game, engine and number of nodes give the same analysis.
"""
