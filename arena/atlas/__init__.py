"""The atlas: how fair the starts of a family are, measured by games of a sample bot against itself.

    plan       which starts, how many games at which strengths
    run        plays them, resumable, the same bytes on any machine
    report     what follows: advantages with intervals, shrunk over the family, equal starts pooled
    published  the atlases that come with the program, as pages, tournaments and books read them

Refuses to know the database and the web.
"""
