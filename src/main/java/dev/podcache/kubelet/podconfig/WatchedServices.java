package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.Service;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@link ServiceLister} by a watch. */
final class WatchedServices implements ServiceLister {

    private static final Logger log = LoggerFactory.getLogger(ServiceLister.class);

    private final Reflector<Service> reflector;
    /** By {@code namespace/name}, so that a namespace is a range. Written by the reflector alone. */
    private final NavigableMap<String, Service> services = new ConcurrentSkipListMap<>();

    private volatile boolean synced;

    WatchedServices(ListerWatcher<Service> server, Recovery recovery) {
        this.reflector = new Reflector<>(server, new ServicesSink(), recovery);
    }

    WatchedServices start() {
        reflector.start();
        return this;
    }

    @Override
    public boolean hasSynced() {
        return synced;
    }

    @Override
    public ImmutableList<Service> inNamespace(String namespace) {
        // "0" is the character after "/"
        return ImmutableList.copyOf(
                services.subMap(namespace + "/", namespace + "0").values());
    }

    @Override
    public void close() {
        reflector.close();
    }

    /** One thread at a time calls it. */
    private final class ServicesSink implements ReflectorSink<Service> {

        private boolean failing;

        @Override
        public void replace(List<Fetched<Service>> items, String resourceVersion) {
            Map<String, Service> found = new TreeMap<>();
            for (Fetched<Service> item : items) {
                if (ServiceVariables.hasAddress(item.object())) {
                    found.put(key(item), item.object());
                }
            }
            // never empty in between: a reader meets each Service that was and is there
            services.putAll(found);
            services.keySet().retainAll(found.keySet());
            synced = true;
        }

        @Override
        public void upsert(Fetched<Service> fetched) {
            if (ServiceVariables.hasAddress(fetched.object())) {
                services.put(key(fetched), fetched.object());
            } else {
                services.remove(key(fetched));
            }
        }

        @Override
        public void delete(Fetched<Service> last) {
            services.remove(key(last));
        }

        @Override
        public void connected() {
            if (failing) {
                failing = false;
                log.info("Services are followed again");
            }
        }

        @Override
        public void disconnected(ApiServerException cause) {
            // after 410 a list follows at once
            if (!failing && cause.reason() != FailureReason.EXPIRED) {
                failing = true;
                log.warn("Services cannot be followed, trying on: {}", cause.getMessage());
            }
        }

        private String key(Fetched<Service> fetched) {
            return fetched.object().getMetadata().getNamespace() + "/"
                    + fetched.object().getMetadata().getName();
        }
    }
}
