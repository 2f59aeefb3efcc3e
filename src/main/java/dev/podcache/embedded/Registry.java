package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import java.util.Collection;
import java.util.NavigableMap;

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

    ObjectList listLocked(Resource resource, Selection selection, ListPage page) {
        boolean cached = page.isFirst() && fromCacheLocked(page.resourceVersion());
        if (cached && (page.limit() == 0 || page.resourceVersion().equals("0"))) {
            return whole(storage.cache(resource).objects(), selection, storage.cachedRevision());
        }
        if (page.isFirst() && page.limit() == 0) {
            return whole(storage.objects(resource), selection, storage.revision());
        }
        long version = page.isFirst() ? storage.revision() : page.revision();
        Collection<StoredObject> rest = page.rest(storage.objectsAt(resource, version));
        ImmutableList.Builder<ObjectNode> items = ImmutableList.builder();
        long found = 0;
        ObjectKey last = page.after();
        for (StoredObject object : rest) {
            if (selection.matches(object.json()) && (++found <= page.limit() || page.limit() == 0)) {
                items.add(object.json());
                last = ObjectNames.keyOf(object.json());
            }
        }
        long left = page.limit() == 0 ? 0 : Math.max(0, found - page.limit());
        return new ObjectList(
                items.build(),
                Long.toUnsignedString(version),
                left == 0 ? "" : ListPage.token(version, last),
                selection.hasConditions() ? 0 : left);
    }

    private static ObjectList whole(NavigableMap<ObjectKey, StoredObject> all, Selection selection, long version) {
        ImmutableList<ObjectNode> items = selection.of(all).collect(ImmutableList.toImmutableList());
        return new ObjectList(items, Long.toUnsignedString(version), "", 0);
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

    ObjectNode createLocked(Resource resource, ObjectKey key, ObjectNode object, WriteCheck check) {
        if (resource.namespaced()) {
            requireOpenNamespaceLocked(resource, key);
        }
        check.write(resource, key, null, object);
        if (storage.objects(resource).containsKey(key)) {
            throw StatusException.alreadyExists(resource, key.name());
        }
        if (resource.namespaced()) {
            ensureNamespaceLocked(key.namespace());
        }
        return storage.put(resource, key, object).json();
    }

    private void requireOpenNamespaceLocked(Resource resource, ObjectKey key) {
        StoredObject namespace = storage.objects(Resource.NAMESPACES).get(ObjectKey.of("", key.namespace()));
        if (namespace != null && isDeleting(namespace.json())) {
            throw StatusException.terminating(resource, key);
        }
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

    ObjectNode replaceLocked(Resource resource, ObjectKey key, ObjectPart part, ObjectNode body, WriteCheck check) {
        if (resource.isAccess() && !storage.objects(resource).containsKey(key)) {
            // a kube-apiserver creates Roles and bindings this way
            ObjectNode created = WriteRules.created(resource, key, body, timekeeper.wallTime());
            return createLocked(resource, key, created, check);
        }
        StoredObject current = currentLocked(resource, key);
        ObjectNode updated = WriteRules.updated(resource, key, part, current.json(), body);
        check.write(resource, key, current.json(), updated);
        if (Deletion.completes(current.json(), updated) && !hasContentLocked(resource, key)) {
            removeLocked(resource, key);
            return updated;
        }
        return putIfChangedLocked(resource, key, current, updated);
    }

    ObjectNode patchLocked(Resource resource, ObjectKey key, ObjectPart part, PatchBody patch, WriteCheck check) {
        ObjectNode current = currentLocked(resource, key).json();
        ObjectNode patched = patch.applyTo(resource, current);
        ObjectNames.requireMatch(resource, key, patched);
        WriteRules.requireSameUid(resource, key, current, patched);
        return replaceLocked(resource, key, part, patched, check);
    }

    ObjectNode deleteLocked(Resource resource, ObjectKey key, DeleteOptions options) {
        StoredObject current = currentLocked(resource, key);
        Deletion.requirePreconditions(resource, key, current.json(), options);
        ObjectNode last = current.json();
        if (resource.equals(Resource.PODS)) {
            // a pod that is removed at once is also marked first, and watches receive this event
            long grace = Deletion.graceSeconds(current.json(), options);
            ObjectNode marked = Deletion.markedForDeletion(current.json(), grace, timekeeper.wallTime());
            last = putIfChangedLocked(resource, key, current, marked);
            if (grace > 0) {
                return last;
            }
        }
        if (resource.equals(Resource.NAMESPACES)) {
            return deleteNamespaceLocked(key, current);
        }
        if (Deletion.hasFinalizers(last)) {
            return markLocked(resource, key);
        }
        removeLocked(resource, key);
        return last;
    }

    /** Marks an object that finalizers keep. Idempotent. */
    private ObjectNode markLocked(Resource resource, ObjectKey key) {
        StoredObject current = currentLocked(resource, key);
        ObjectNode marked = Deletion.markedForFinalizers(current.json(), timekeeper.wallTime());
        return putIfChangedLocked(resource, key, current, marked);
    }

    private ObjectNode deleteNamespaceLocked(ObjectKey key, StoredObject current) {
        boolean keptObjects = false;
        for (Resource resource : storage.resources()) {
            for (ObjectKey content : keysInLocked(resource, key.name())) {
                if (Deletion.hasFinalizers(currentLocked(resource, content).json())) {
                    markLocked(resource, content);
                    keptObjects = true;
                } else {
                    storage.remove(resource, content);
                }
            }
        }
        if (!keptObjects && !Deletion.hasFinalizers(current.json())) {
            storage.remove(Resource.NAMESPACES, key);
            return current.json();
        }
        ObjectNode marked = Deletion.markedForFinalizers(current.json(), timekeeper.wallTime());
        Json.object(marked, "status").put("phase", "Terminating");
        return putIfChangedLocked(Resource.NAMESPACES, key, current, marked);
    }

    private boolean hasContentLocked(Resource resource, ObjectKey key) {
        return resource.equals(Resource.NAMESPACES)
                && storage.resources().stream()
                        .anyMatch(other -> !keysInLocked(other, key.name()).isEmpty());
    }

    private ImmutableList<ObjectKey> keysInLocked(Resource resource, String namespace) {
        return storage.objects(resource).keySet().stream()
                .filter(key -> key.namespace().equals(namespace))
                .collect(ImmutableList.toImmutableList());
    }

    /** Removes an object, and its namespace if that waited for it. */
    private void removeLocked(Resource resource, ObjectKey key) {
        storage.remove(resource, key);
        ObjectKey namespace = ObjectKey.of("", key.namespace());
        StoredObject waiting = storage.objects(Resource.NAMESPACES).get(namespace);
        if (waiting != null
                && isDeleting(waiting.json())
                && !Deletion.hasFinalizers(waiting.json())
                && !hasContentLocked(Resource.NAMESPACES, namespace)) {
            storage.remove(Resource.NAMESPACES, namespace);
        }
    }

    private static boolean isDeleting(ObjectNode object) {
        return object.path("metadata").has("deletionTimestamp");
    }

    /** Deletes all objects of a resource, whether or not finalizers keep them, and forgets the resource. */
    void removeAllLocked(Resource resource) {
        ImmutableList.copyOf(storage.objects(resource).keySet()).forEach(key -> removeLocked(resource, key));
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
