"""What is remembered of a settled decision: a record by template, or a lesson by a model."""

from memtrial.reflect.contract import Reflector, Settled
from memtrial.reflect.lesson import LessonWriter
from memtrial.reflect.template import write_record

__all__ = ["LessonWriter", "Reflector", "Settled", "write_record"]
