package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import java.util.Collection;

/**
 * Reads and writes the storage by the rules of an API server. Every method must be called under the lock of the
 * cluster.
 */
final class Registry {

    private final Storage storage;
    private final Timekeeper timekeeper;

    Registry(Storage storage, Timekeeper timekeeper) {
        this.storage = storage;
        this.timekeeper = timekeeper;
    }

    ObjectNode getLocked(Resource resource, ObjectKey key, String resourceVersion) {
        StoredObject found = fromCacheLocked(resourceVersion)
                ? storage.cached(resource, key)
                : storage.objects(resource).get(key);
        if (found == null) {
            throw StatusException.notFound(resource, key.name());
        }
        return found.json();
    }

    ObjectList listLocked(Resource resource, Selection selection, String resourceVersion) {
        boolean cached = fromCacheLocked(resourceVersion);
        Collection<StoredObject> all = cached
                ? storage.cache(resource).objects()
                : storage.objects(resource).values();
        ImmutableList<ObjectNode> items = all.stream()
                .map(StoredObject::json)
                .filter(selection::matches)
                .collect(ImmutableList.toImmutableList());
        long version = cached ? storage.cachedRevision() : storage.revision();
        return new ObjectList(items, Long.toUnsignedString(version));
    }

    private boolean fromCacheLocked(String resourceVersion) {
        if (resourceVersion.isEmpty()) {
            return false;
        }
        long atLeast = ObjectNames.version(resourceVersion);
        if (Long.compareUnsigned(atLeast, storage.cachedRevision()) > 0) {
            throw StatusException.tooLargeVersion(atLeast, storage.cachedRevision());
        }
        return true;
    }

    ObjectNode createLocked(Resource resource, ObjectKey key, ObjectNode object) {
        if (storage.objects(resource).containsKey(key)) {
            throw StatusException.alreadyExists(resource, key.name());
        }
        if (resource.namespaced()) {
            ensureNamespaceLocked(key.namespace());
        }
        return storage.put(resource, key, object).json();
    }

    void ensureNamespaceLocked(String name) {
        ObjectKey key = ObjectKey.of("", name);
        if (!storage.objects(Resource.NAMESPACES).containsKey(key)) {
            ObjectNode empty = Json.MAPPER.createObjectNode();
            storage.put(
                    Resource.NAMESPACES,
                    key,
                    WriteRules.created(Resource.NAMESPACES, key, empty, timekeeper.wallTime()));
        }
    }

    ObjectNode replaceLocked(Resource resource, ObjectKey key, ObjectPart part, ObjectNode body) {
        StoredObject current = currentLocked(resource, key);
        ObjectNode updated = WriteRules.updated(resource, key, part, current.json(), body);
        return putIfChangedLocked(resource, key, current, updated);
    }

    ObjectNode patchLocked(Resource resource, ObjectKey key, ObjectPart part, PatchBody patch) {
        ObjectNode current = currentLocked(resource, key).json();
        ObjectNode patched = patch.applyTo(resource, current);
        ObjectNames.requireMatch(resource, key, patched);
        WriteRules.requireSameUid(resource, key, current, patched);
        return replaceLocked(resource, key, part, patched);
    }

    ObjectNode deleteLocked(Resource resource, ObjectKey key, DeleteOptions options) {
        StoredObject current = currentLocked(resource, key);
        Deletion.requirePreconditions(resource, key, current.json(), options);
        ObjectNode last = current.json();
        if (resource == Resource.PODS) {
            // a pod that is removed at once is also marked first, and watches receive this event
            long grace = Deletion.graceSeconds(current.json(), options);
            ObjectNode marked = Deletion.markedForDeletion(current.json(), grace, timekeeper.wallTime());
            last = putIfChangedLocked(resource, key, current, marked);
            if (grace > 0) {
                return last;
            }
        }
        if (resource == Resource.NAMESPACES) {
            emptyNamespaceLocked(key.name());
        }
        storage.remove(resource, key);
        return last;
    }

    private void emptyNamespaceLocked(String namespace) {
        for (Resource resource : Resource.values()) {
            ImmutableList.copyOf(storage.objects(resource).keySet()).stream()
                    .filter(key -> key.namespace().equals(namespace))
                    .forEach(key -> storage.remove(resource, key));
        }
    }

    private StoredObject currentLocked(Resource resource, ObjectKey key) {
        StoredObject current = storage.objects(resource).get(key);
        if (current == null) {
            throw StatusException.notFound(resource, key.name());
        }
        return current;
    }

    private ObjectNode putIfChangedLocked(Resource resource, ObjectKey key, StoredObject current, ObjectNode next) {
        return current.sameContent(next)
                ? current.json()
                : storage.put(resource, key, next).json();
    }
}
