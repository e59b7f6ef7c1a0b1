"""The table of greetings, and what is done with it."""

from sqlmodel import Field, SQLModel, col, select

from arena.store import Store
from arena.store.base.fields import number


class Greeting(SQLModel, table=True):
    __tablename__ = "greetings_greetings"
    id: int = number()
    text: str = Field(max_length=200)


def add(store: Store, text: str) -> None:
    with store.writing() as session:
        session.add(Greeting(text=text))


def latest(store: Store) -> list[str]:
    with store.reading() as session:
        return list(session.scalars(select(Greeting.text).order_by(col(Greeting.id).desc()).limit(10)))
