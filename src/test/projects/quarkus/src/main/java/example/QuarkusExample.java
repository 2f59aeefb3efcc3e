package example;

import dev.podcache.Podcache;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import jakarta.inject.Inject;
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
        System.out.println("read " + podcache.secrets().getObject("shop", "db").getData().keySet());
        return 0;
    }
}
