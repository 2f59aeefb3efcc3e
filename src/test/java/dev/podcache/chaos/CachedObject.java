package dev.podcache.chaos;

/** One object of a run: its kind and its name, in the one namespace that there is. */
record CachedObject(CachedKind kind, String name) {

    /** The kinds that are cached. */
    enum CachedKind {
        SECRET("Secret", "secrets"),
        CONFIG_MAP("ConfigMap", "configmaps");

        final String text;
        final String plural;

        CachedKind(String text, String plural) {
            this.text = text;
            this.plural = plural;
        }
    }

    @Override
    public String toString() {
        return kind.text + " " + name;
    }
}
