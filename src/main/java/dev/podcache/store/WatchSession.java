package dev.podcache.store;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ResourceVersions;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/** One list and watch of an object, from its list to its end: says to the {@link WatchEntry} what the server says. */
final class WatchSession<T extends HasMetadata> implements ReflectorSink<T> {

    final Reflector<T> reflector;
    private final WatchEntry<T> entry;
    private final Watches<T> watches;

    WatchSession(WatchEntry<T> entry, Watches<T> watches) {
        this.entry = entry;
        this.watches = watches;
        this.reflector = watches.reflector(entry.key, this);
    }

    @Override
    public void replace(ImmutableList<Fetched<T>> items, String resourceVersion) {
        for (Fetched<T> item : items) {
            if (isOurs(item)) {
                entry.heard(this, watches.present(item));
                return;
            }
        }
        entry.heard(this, new Answer.Absent<>(0));
    }

    @Override
    public void upsert(Fetched<T> fetched) {
        // a watch that began without a version starts with a state that may be older than the one that was got
        boolean old = entry.answer() instanceof Answer.Present<T> present
                && ResourceVersions.isOlder(fetched.resourceVersion(), present.resourceVersion);
        if (!old && isOurs(fetched)) {
            entry.heard(this, watches.present(fetched));
        }
    }

    @Override
    public void delete(Fetched<T> last) {
        if (isOurs(last)) {
            entry.heard(this, new Answer.Absent<>(0));
        }
    }

    @Override
    public void connected() {
        entry.upToDate(this);
    }

    @Override
    public void resumed() {
        entry.unconfirmed(this);
    }

    @Override
    public void disconnected(ApiServerException cause) {
        entry.failed(this, cause);
    }

    /** Returns whether that is the object that was asked for. A proxy may ignore the field selector. */
    private boolean isOurs(Fetched<T> fetched) {
        ObjectMeta metadata = fetched.object().getMetadata();
        ObjectKey key = entry.key;
        return key.name().equals(metadata.getName())
                && key.namespace().equals(Strings.nullToEmpty(metadata.getNamespace()));
    }
}
