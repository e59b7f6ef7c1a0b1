"""An agent of the Baroque course: pushes the first pincer that has an empty square in front of it."""

import BC_state_etc as BC

NAMES = []


def nickname():
    return "Pusher"


def introduce():
    return "I push."


def prepare(player2Nickname):  # noqa: N803 - the course's name
    NAMES.append(player2Nickname)


def makeMove(currentState, currentRemark, timelimit):  # noqa: N803 - the course's names
    assert NAMES
    assert timelimit > 0
    assert currentRemark
    pincer = BC.WHITE_PINCER if currentState.whose_move == BC.WHITE else BC.BLACK_PINCER
    ahead = -1 if currentState.whose_move == BC.WHITE else 1
    for row in range(8):
        for column in range(8):
            if currentState.board[row][column] == pincer and currentState.board[row + ahead][column] == 0:
                state = BC.BC_state(currentState.board, 1 - currentState.whose_move)
                state.board[row + ahead][column], state.board[row][column] = pincer, 0
                return [[((row, column), (row + ahead, column)), state], "Your turn!"]
    return [None, "I cannot move"]


def wild(currentState, currentRemark, timelimit):  # noqa: N803
    return [[((7, 4), (0, 4)), currentState], "Hah!"]
