"""Recurring tournaments: their templates and next fire times."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.documents.schedule import ScheduleItem
from arena.errors import NotFoundError, TakenError
from arena.store.base.engine import Repository
from arena.store.base.tables.tournaments import Schedule, Tournament


class Schedules(Repository):
    def add(self, schedule: Schedule) -> ScheduleItem:
        """Store a new schedule. Raises TakenError if the name is taken."""
        try:
            with self._sessions.writing() as session:
                session.add(schedule)
                session.flush()
                return _item(schedule)
        except IntegrityError:
            raise TakenError(f"the schedule name {schedule.name!r} is taken; choose another name") from None

    def get(self, schedule_id: int) -> ScheduleItem:
        """Return a schedule by id. Raises NotFoundError."""
        with self._sessions.reading() as session:
            schedule = session.get(Schedule, schedule_id)
        if schedule is None:
            raise NotFoundError("schedule", schedule_id)
        return _item(schedule)

    def change(self, schedule_id: int, like: Schedule) -> ScheduleItem:
        """Give a schedule the name and settings of `like`. Raises NotFoundError, or TakenError for a taken name."""
        try:
            with self._sessions.writing() as session:
                schedule = session.get(Schedule, schedule_id)
                if schedule is None:
                    raise NotFoundError("schedule", schedule_id)
                for name in ("name", "cron", "timezone", "catch_up", "template"):
                    setattr(schedule, name, getattr(like, name))
                schedule.next_fire = like.next_fire if schedule.is_enabled else None
                session.flush()
                return _item(schedule)
        except IntegrityError:
            raise TakenError(f"the schedule name {like.name!r} is taken; choose another name") from None

    def all(self) -> list[ScheduleItem]:
        """Return every schedule, ordered by name."""
        with self._sessions.reading() as session:
            return [_item(row) for row in session.scalars(select(Schedule).order_by(col(Schedule.name)))]

    def due(self, at: datetime) -> list[ScheduleItem]:
        """Return the enabled schedules whose fire time has come, earliest first."""
        query = select(Schedule).where(col(Schedule.next_fire) <= at, col(Schedule.is_enabled).is_(True))
        with self._sessions.reading() as session:
            return [_item(row) for row in session.scalars(query.order_by(col(Schedule.next_fire)))]

    def fired(self, schedule_id: int, fire_time: datetime | None, next_fire: datetime | None) -> bool:
        """Set the next fire time of a schedule; return False if another process has advanced it from `fire_time`."""
        with self._sessions.writing() as session:
            change = session.execute(
                update(Schedule)
                .where(col(Schedule.id) == schedule_id, col(Schedule.next_fire).is_not_distinct_from(fire_time))
                .values(next_fire=next_fire)
            )
            return bool(change.rowcount)  # type: ignore[attr-defined]

    def enable(self, schedule_id: int, is_enabled: bool, next_fire: datetime | None = None) -> ScheduleItem:
        """Enable a schedule (with its next fire time) or disable it. Raises NotFoundError."""
        with self._sessions.writing() as session:
            schedule = session.get(Schedule, schedule_id)
            if schedule is None:
                raise NotFoundError("schedule", schedule_id)
            schedule.is_enabled, schedule.next_fire = is_enabled, next_fire if is_enabled else None
            return _item(schedule)

    def delete(self, schedule_id: int) -> ScheduleItem:
        """Delete a schedule, which its tournaments then no longer name, and return it. Raises NotFoundError."""
        with self._sessions.writing() as session:
            schedule = session.get(Schedule, schedule_id)
            if schedule is None:
                raise NotFoundError("schedule", schedule_id)
            item = _item(schedule)
            session.execute(
                update(Tournament).where(col(Tournament.schedule_id) == schedule_id).values(schedule_id=None)
            )
            session.delete(schedule)
            return item


def _item(row: Schedule) -> ScheduleItem:
    """Return a stored schedule as a document."""
    return ScheduleItem(
        id=row.id,
        name=row.name,
        cron=row.cron,
        timezone=row.timezone,
        catch_up=row.catch_up,
        template=row.template,
        is_enabled=row.is_enabled,
        next_fire=row.next_fire,
        created_at=row.created_at,
        created_by=row.created_by,
    )
