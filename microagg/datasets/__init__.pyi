from .catalog import (
    CATALOG as CATALOG,
    NAMES as NAMES,
    Entry as Entry,
    RemoteFile as RemoteFile,
    describe as describe,
)
from .loading import (
    DATA_DIR_VARIABLE as DATA_DIR_VARIABLE,
    Dataset as Dataset,
    cache_folder as cache_folder,
    is_available as is_available,
    load as load,
)
from .synthetic import make_survey as make_survey
