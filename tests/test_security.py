"""Every sentence of SECURITY.md that promises something names the tests that hold it to that."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ATTACKS, LEVELS, HOGS = "referee/sandbox/test_attacks", "referee/sandbox/test_levels", "referee/sandbox/test_hogs"
LAUNCHER, PONDERING = "referee/sandbox/test_launcher", "referee/sandbox/test_pondering"
LANDLOCK, SECCOMP = "referee/sandbox/test_landlock", "referee/sandbox/test_seccomp"
KERNEL_MEMORY, FAULTS = "referee/sandbox/test_kernel_memory", "badbots/test_faults"
ACCOUNT, REGISTRATION = "arena/services/test_account", "arena/services/test_registration"
SESSION, REGISTER = "arena/api/test_session", "arena/pages/test_register"
CONNECTION, LOBBY, RATE = "arena/api/test_connection", "arena/coordinator/test_lobby", "arena/http/test_rate_limit"
CREDENTIALS, HUMANS, PAGES = "arena/test_credentials", "arena/coordinator/test_human_games", "arena/pages/test_pages"
HOG = f"{HOGS}::test_a_hog_is_refused_or_killed_within_half_more_than_its_limit"
SPY = "referee/sandbox/test_spy::test_a_bot_learns_what_the_documentation_says"
LOSES = f"{FAULTS}::test_the_right_bot_loses_for_the_right_reason_and_in_time"
UNSAFE = "arena/submission/test_unpack::test_hostile_archives"

TESTS = {
    "Bots are treated as hostile. An uploaded bot runs": f"{LEVELS}::test_auto_is_the_strongest_that_works",
    "If neither works, uploads are refused": f"{LEVELS}::test_strangers_need_a_strong_sandbox_or_plain_words",
    "Before a level is used": f"{LEVELS}::test_a_sandbox_that_does_not_hold_is_found_out",
    "| reads only its own folder": f"{ATTACKS}::test_files_and_secrets_stay_unseen",
    "| writes nothing that outlives": f"{ATTACKS}::test_nothing_is_written_but_a_bounded_memory_disk",
    "| has no network": f"{ATTACKS}::test_a_bot_gets_no_socket {ATTACKS}::test_other_processes_are_out_of_reach",
    "| is restricted by a system call filter": f"{SECCOMP}::test_dangerous_calls_are_refused",
    "| has limits for memory": f"{ATTACKS}::test_a_memory_hog_is_stopped {ATTACKS}::test_a_fork_bomb_goes_out",
    "Memory is limited also": HOG,
    "The system call filter of": f"{SECCOMP}::test_what_is_not_listed_is_refused {SECCOMP}::test_ordinary_calls_pass",
    "The referee's watchdog counts the rest": f"{KERNEL_MEMORY}::test_descriptors_and_mappings_are_counted {HOG}",
    "It checks ten times a second": HOG,
    "A test runs 33 programs": HOG,
    "Once a bot has thought out of turn": f"{PONDERING}::test_nothing_of_a_stopped_bot_runs",
    "No process outlives the referee": f"{LAUNCHER}::test_no_process_of_a_bot_outlives_a_killed_referee",
    "- `landlock`: a bot can see": f"{LANDLOCK}::test_files_network_and_processes_are_out_of_reach",
    "It can read the files": f"{LANDLOCK}::"
    "test_a_bot_reads_its_own_entry_of_proc_without_the_connections_of_the_machine",
    "What a bot can learn": SPY,
    "- All levels: a bot can measure": SPY,
    "- `bwrap`: a bot can read": SPY,
    "- `rlimits`: a bot can read": SPY,
    "A bot with `network": HOG,
    "A bot can read what": SPY,
    "Without root, the referee counts shared": HOG,
    "- `none`: has no": HOG,
    "Only resident memory": HOG,
    "Descriptors on their way": HOG,
    "- A bot cannot make its opponent forfeit": LOSES,
    "- It cannot block the referee": LOSES,
    "- It cannot leave processes behind": f"{LAUNCHER}::test_what_a_bot_leaves_behind_ends_with_it",
    "- It cannot change compiled kernels": f"{LEVELS}::test_confined_kernels_come_from_the_cache_and_do_not_go_there",
    "A bot that violates a rule loses": LOSES,
    "Uploads are not trusted. Archives are unpacked": UNSAFE,
    "Links, devices and names": UNSAFE,
    "Deep or large manifests": "arena/submission/test_receive::test_what_is_refused_leaves_nothing",
    "Bundles are stored by": "arena/submission/test_bundle_store::test_names_are_digests",
    "- It can send lines only": f"{LOBBY}::test_invalid_messages_are_rejected",
    "A line may have 8 KiB": f"{CONNECTION}::test_connection_that_floods_is_closed_with_a_reason",
    "Invalid input closes": f"{CONNECTION}::test_connection_that_floods_is_closed_with_a_reason "
    f"{LOBBY}::test_invalid_messages_are_rejected",
    "- It cannot reach other games": f"{LOBBY}::test_a_seat_needs_the_key",
    "It can also claim network delay": "referee/bot/remote/test_seat::test_there_is_an_allowance_a_move_and_one_a_game",
    "Its ratings therefore form": "arena/services/test_remote::test_remote_games_count_in_the_remote_pool",
    "- Its token needs only": f"{CONNECTION}::test_connection_needs_the_scope_submit",
    "Accounts. Passwords are stored": f"{CREDENTIALS}::test_verify_password_accepts_only_the_right_one "
    f"{CREDENTIALS}::test_check_password_rejects_weak_ones",
    "Tokens and cookies": f"{CREDENTIALS}::test_new_tokens_are_random",
    "The scopes of a token": "arena/store/people/test_users::test_add_token_scope_beyond_role_raises",
    "A token created with another": f"{ACCOUNT}::test_token_cannot_exceed_its_creator "
    f"{ACCOUNT}::test_token_revokes_itself_and_weaker_ones",
    "Wrong passwords delay": f"{SESSION}::test_passwords_are_not_for_guessing",
    "Attempts are counted by": "arena/store/people/test_login_attempts::"
    "test_take_counts_every_key_until_one_is_over_its_limit",
    "Browsers and IP addresses": f"{SESSION}::test_failed_logins_do_not_lock_out_known_addresses",
    "Only a few passwords": f"{SESSION}::test_passwords_are_checked_a_few_at_a_time",
    "A new password ends": f"{SESSION}::test_a_new_password_ends_all_sessions",
    "Rate limits of requests": f"{RATE}::test_processes_that_share_a_limit_let_through_little_more_than_one",
    "Forms carry a CSRF token": f"{SESSION}::test_a_session_writes_only_with_its_token "
    "arena/pages/test_steering::test_forms_of_others_or_without_the_token_change_nothing",
    "Invitations and links": f"{REGISTRATION}::test_reset_sets_the_password_once_and_ends_sessions",
    "The answer to a request": f"{REGISTER}::test_the_answer_to_a_forgotten_password_is_the_same_for_all_names",
    "Invitations create no": f"{REGISTRATION}::test_nobody_is_invited_as_an_admin",
    "Registrations and requests": f"{REGISTER}::test_registrations_of_one_address_are_limited "
    f"{REGISTRATION}::test_request_reset_mails_users_with_an_address_and_no_more_than_three_times",
    "Changing the e-mail": f"{REGISTRATION}::test_change_email_requires_the_current_password",
    "Pages have a strict": f"{PAGES}::test_first_view_is_light_and_keeps_the_policy",
    "Other sites may embed": "arena/pages/test_syndication::test_a_game_may_be_framed_and_nothing_else",
    "Text written by users": "arena/pages/test_board::test_foreign_text_is_made_visible",
    "Visitors cannot exhaust": f"{RATE}::test_a_waiting_room_serves_few_and_sends_the_rest_away",
    "Headers that take longer": "arena/http/test_server::test_headers_that_trickle_are_not_waited_for",
    "A request with a long URL": f"{RATE}::test_take_of_a_long_request_takes_more_and_at_most_a_bucket "
    f"arena/http/test_response_cache::test_room_is_bounded "
    f"{HUMANS}::test_people_without_an_account_leave_places_and_slots_to_accounts",
    "Texts of games are read": "arena/test_superlinear",
    "Visibility. Games, ratings": "arena/api/test_access",
    "Only the owner and organisers": "arena/services/test_game::test_only_owner_and_organisers_read_a_log",
    "Only workers, by a token": "arena/api/test_bundles::test_a_token_for_workers_opens_nothing_else",
}
"""The beginning of a sentence, and its tests; a file alone is about nothing else."""
WITHOUT = (
    "| | `bwrap`",
    "|---",
    "Known gaps",
    "In addition to the sandbox",
    "A remote bot is a program",
    "The arena never runs it",
    "- It can think during its opponent's turn",
    "The client runs only",
)
"""Sentences that promise nothing, or that there is no code for something."""


def sentences() -> list[str]:
    """Return the sentences of the guarantees, without bold type, and the rows of their table."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    guarantees = text.partition("## Security guarantees\n")[2].partition("\n## ")[0].replace("**", "")
    blocks = (" ".join(block.split()) for block in re.split(r"\n\n|\n(?=- )|\n(?=\|)", guarantees))
    # Headings in bold type, such as "Visitors.", belong to their first sentence.
    return [
        sentence
        for block in blocks
        for sentence in re.split(
            r"(?<=[.:])(?<!hostile\.)(?<!trusted\.)(?<!Accounts\.)(?<!Visibility\.) (?=[A-Z`])", block
        )
        if sentence
    ]


def test_every_sentence_of_the_guarantees_has_a_test() -> None:
    known = (*TESTS, *WITHOUT)
    assert [sentence for sentence in sentences() if not sentence.startswith(known)] == []
    assert [begin for begin in known if not any(sentence.startswith(begin) for sentence in sentences())] == []


def test_tests_of_the_guarantees_exist() -> None:
    for name in {name for names in TESTS.values() for name in names.split()}:
        file, _, function = name.partition("::")
        text = (ROOT / "tests" / f"{file}.py").read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {function or 'test_'}", text, re.M), f"no {function} in tests/{file}.py"
