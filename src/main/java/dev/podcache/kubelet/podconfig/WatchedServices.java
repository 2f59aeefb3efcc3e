package dev.podcache.kubelet.podconfig;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Service;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A {@link ServiceLister} that a reflector keeps up to date. */
final class WatchedServices implements ServiceLister {

    private static final Logger log = LoggerFactory.getLogger(ServiceLister.class);

    private final Reflector<Service> reflector;
    /** By {@code namespace/name}, so that a namespace is a key range. Written only by the reflector. */
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
    public List<Service> inNamespace(String namespace) {
        // "0" is the character after "/"
        return List.copyOf(services.subMap(namespace + "/", namespace + "0").values());
    }

    @Override
    public void close() {
        reflector.close();
    }

    /** Called by one thread at a time. */
    private final class ServicesSink implements ReflectorSink<Service> {

        private boolean failing;

        @Override
        public void replace(List<Fetched<Service>> items, String resourceVersion) {
            Map<String, Service> listed = new TreeMap<>();
            for (Fetched<Service> item : items) {
                if (ServiceVariables.hasClusterIp(item.object())) {
                    listed.put(key(item), item.object());
                }
            }
            // puts before it removes, so that readers never miss a Service that exists before and after
            services.putAll(listed);
            services.keySet().retainAll(listed.keySet());
            synced = true;
        }

        @Override
        public void upsert(Fetched<Service> fetched) {
            if (ServiceVariables.hasClusterIp(fetched.object())) {
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
                log.info("watch of Services works again");
            }
        }

        @Override
        public void disconnected(ApiServerException cause) {
            // the reflector lists at once after 410 Gone
            if (!failing && cause.reason() != FailureReason.EXPIRED) {
                failing = true;
                log.warn("watch of Services failed; retrying: {}", cause.getMessage());
            }
        }

        private String key(Fetched<Service> fetched) {
            ObjectMeta metadata = fetched.object().getMetadata();
            return metadata.getNamespace() + "/" + metadata.getName();
        }
    }
}
