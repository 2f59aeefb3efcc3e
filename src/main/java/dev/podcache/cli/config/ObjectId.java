package dev.podcache.cli.config;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;

/** A Secret or ConfigMap of the cluster. */
public record ObjectId(ObjectKind<?> kind, ObjectKey key) {

    @Override
    public String toString() {
        return kind + " " + key;
    }
}
