/**
 * Where tools keep what they download and compile: variables that the tools themselves know. Weaker than the stack's
 * own environment, so that any of them can be set to something else.
 */
export function cacheEnvironment(cache: string, home: string): Readonly<Record<string, string>> {
  return {
    SLIPWAY_CACHE: cache,
    // Most of what has no variable of its own: uv, Yarn 1, pre-commit, Helm, node-gyp, ...
    XDG_CACHE_HOME: `${cache}/xdg`,
    npm_config_cache: `${cache}/npm`,
    YARN_GLOBAL_FOLDER: `${cache}/yarn`,
    PIP_CACHE_DIR: `${cache}/pip`,
    GOMODCACHE: `${cache}/go/mod`,
    GOCACHE: `${cache}/go/build`,
    NUGET_PACKAGES: `${cache}/nuget`,
    // Poetry's cache holds its environments too, which are those of one checkout.
    POETRY_VIRTUALENVS_PATH: `${home}/.virtualenvs`,
  };
}
