from . import experiment as experiment, landscape as landscape
