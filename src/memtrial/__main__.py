"""``python -m memtrial``."""

from memtrial.serve.cli import main

main()
