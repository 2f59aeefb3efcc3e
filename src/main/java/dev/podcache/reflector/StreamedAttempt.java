package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One list and watch by a single request of a {@link ReflectorLoop}: gathers the events until the bookmark that ends
 * the list, applies them as one list, and is an ordinary {@link WatchAttempt} from then on. Used in steps of the
 * reflector only.
 */
final class StreamedAttempt<T> {

    /**
     * The longest wait for the end of the list after the server has accepted the request; it follows the objects at
     * once.
     */
    private static final Duration LIST_END_TIMEOUT = Duration.ofSeconds(3);

    private final ReflectorLoop<T> reflector;
    private final ListerWatcher<T> server;
    private final int number;
    private @Nullable Map<Object, Fetched<T>> objects = new LinkedHashMap<>(); // null once the list is applied
    private boolean opened;
    private @Nullable WatchAttempt<T> watch; // not null once the list is applied

    /** Makes an attempt that has not begun. */
    StreamedAttempt(ReflectorLoop<T> reflector, ListerWatcher<T> server, int number) {
        this.reflector = reflector;
        this.server = server;
        this.number = number;
    }

    /**
     * Sends the request.
     *
     * @param length how long the server is asked to keep the watch open
     */
    void begin(Duration length) {
        if (reflector.opens(
                number, () -> server.streamList(length, event -> reflector.steps.run(() -> onEvent(event, length))))) {
            reflector.watchdog(number, ReflectorLoop.LIST_TIMEOUT, this::late);
        }
    }

    private void onEvent(WatchEvent<T> event, Duration length) {
        Map<Object, Fetched<T>> listed = objects;
        if (watch != null) {
            watch.onEvent(event);
        } else if (listed == null || !reflector.isCurrent(number)) {
            return;
        } else if (event instanceof WatchEvent.Upserted<T> upserted) {
            listed.put(identityOf(upserted.fetched().object()), upserted.fetched());
        } else if (event instanceof WatchEvent.Deleted<T> deleted) {
            listed.remove(identityOf(deleted.last().object()));
        } else if (event instanceof WatchEvent.Bookmark<T> bookmark) {
            if (bookmark.endsList()) {
                String version = reflector.recovery.latestVersion.share(bookmark.resourceVersion());
                complete(new Listed<>(List.copyOf(listed.values()), version), length);
            }
        } else if (event instanceof WatchEvent.Ended<T> ended) {
            ended(ended.failure());
        } else {
            opened = true;
            reflector.answered();
            reflector.watchdog(number, LIST_END_TIMEOUT, this::late);
        }
    }

    private void complete(Listed<T> listed, Duration length) {
        objects = null;
        if (reflector.replaced(number, listed)) {
            // nothing is known of the watch yet, as after a plain list
            WatchHealth health =
                    new WatchHealth(server, listed.resourceVersion(), length, reflector.timekeeper.nanoTime());
            health.confirm();
            WatchAttempt<T> continued = new WatchAttempt<>(reflector, number, health);
            watch = continued;
            continued.onEvent(new WatchEvent.Opened<>());
            continued.run();
        }
    }

    private void ended(@Nullable ApiServerException failure) {
        if (failure == null) {
            gaveUp(failure("the server ended the watch before the end of the list"), true);
            return;
        }
        // a 504 says that the server's watch cache lags, which a plain list does not need
        boolean refused = failure.httpCode() > 0
                && (failure.reason() == FailureReason.REJECTED || failure.reason() == FailureReason.TIMEOUT);
        gaveUp(failure, refused);
    }

    /** Gives up, unless the list is complete: a server that does not know the parameter never sends its end. */
    private void late() {
        if (objects != null && reflector.isCurrent(number)) {
            gaveUp(failure("the end of the list did not come in time"), opened);
        }
    }

    private void gaveUp(ApiServerException failure, boolean refused) {
        objects = null;
        if (refused) {
            server.streamRefused(failure);
        }
        // a Node authorizer that lags may allow the next request; if that list is forbidden too, a GET follows
        reflector.notStreamed(number, failure, refused || failure.reason() == FailureReason.FORBIDDEN, opened);
    }

    private ApiServerException failure(String why) {
        return ApiServerException.withoutAnswer(FailureReason.TIMEOUT, "WATCH " + server, why, null);
    }

    /**
     * Returns a key that identifies an object: a proxy may ignore the field selector, so there may be several objects.
     */
    private static Object identityOf(Object object) {
        return object instanceof HasMetadata resource
                ? List.of(
                        Objects.requireNonNullElse(resource.getMetadata().getNamespace(), ""),
                        Objects.requireNonNullElse(resource.getMetadata().getName(), ""))
                : object;
    }
}
