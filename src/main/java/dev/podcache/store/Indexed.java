package dev.podcache.store;

import dev.podcache.object.ObjectKey;

/** What an {@link EntryIndex} holds: something under the names of an object. */
class Indexed {

    final ObjectKey key;
    final int hash;

    // the key has them too, but a search would have one memory access more to wait for
    private final String namespace;
    private final String name;

    Indexed(ObjectKey key) {
        this(key, hash(key.namespace(), key.name()));
    }

    private Indexed(ObjectKey key, int hash) {
        this.key = key;
        this.hash = hash;
        this.namespace = key.namespace();
        this.name = key.name();
    }

    /** One that no names lead to: its hash is not that of its names. */
    static Indexed underNoName() {
        return new Indexed(ObjectKey.of("", ""), ~hash("", ""));
    }

    /** The hash of what is under these names; its highest bits depend on all others. */
    static int hash(String namespace, String name) {
        return (31 * namespace.hashCode() + name.hashCode()) * 0x9E3779B9;
    }

    /** Whether this is under these names, which have this hash. */
    final boolean isOf(int itsHash, String itsNamespace, String itsName) {
        return hash == itsHash && name.equals(itsName) && namespace.equals(itsNamespace);
    }
}
