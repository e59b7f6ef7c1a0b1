"""Pictures drawn on the server: boards, replays of games and charts, as SVG."""
