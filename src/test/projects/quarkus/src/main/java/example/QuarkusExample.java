package example;

import dev.podcache.Podcache;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.Set;

/** Reads a Secret of the API server that {@link InMemoryServer} starts, and ends. */
@QuarkusMain
public class QuarkusExample implements QuarkusApplication {

    @Inject
    Podcache podcache;

    @Override
    public int run(String... args) {
        Referrer owner = () -> "this-application";
        podcache.register(owner, Set.of(ObjectRef.of(ObjectKind.SECRET, "shop", "db")));
        // a get alone waits for the cache's timeout, which a JVM that has just started may need on a busy machine
        podcache.awaitSynced(Duration.ofSeconds(60));
        System.out.println("read " + podcache.secrets().getObject("shop", "db").getData().keySet());
        return 0;
    }
}
