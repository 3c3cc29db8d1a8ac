from .loading import (
    CATALOG as CATALOG,
    DATA_DIR_VARIABLE as DATA_DIR_VARIABLE,
    NAMES as NAMES,
    Dataset as Dataset,
    Entry as Entry,
    RemoteFile as RemoteFile,
    cache_folder as cache_folder,
    describe as describe,
    is_available as is_available,
    load as load,
)
from .synthetic import make_survey as make_survey
