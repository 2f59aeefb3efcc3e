package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Splitter;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.testing.Patience;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a user is told who lacks a library, on a class path without it. */
class OptionalLibraryTest {

    /** Runs on a class path of its own. */
    public static final class MakesConnections implements Callable<Object> {

        @Override
        public Object call() {
            server().close();
            return "made";
        }
    }

    /** Runs on a class path of its own. */
    public static final class StartsServer implements Callable<Object> {

        @Override
        public Object call() {
            try (Timekeeper time = Timekeeper.system();
                    InMemoryCluster cluster = InMemoryCluster.create(time)) {
                EmbeddedApiServer.start(cluster).close();
                return "made";
            }
        }
    }

    /** Runs on a class path of its own. */
    public static final class MakesAgent implements Callable<Object> {

        @Override
        public Object call() {
            try (Fabric8ApiServer server = server()) {
                NodeAgent.builder(server).node("edge-1").build().close();
                return "made";
            }
        }
    }

    /** Runs on a class path of its own. */
    public static final class ReadsMachine implements Callable<Object> {

        @Override
        public Object call() {
            return HostFacts.ofThisMachine(Path.of("/")).cores();
        }
    }

    @ParameterizedTest
    @EnumSource
    void require_libraryIsThere_returns(OptionalLibrary library) {
        assertThatCode(library::require).doesNotThrowAnyException();
    }

    @Test
    void connections_withoutNetty_nameTheDependencies() {
        assertThatThrownBy(() -> call(MakesConnections.class, "netty-"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll(
                        "Netty is not on the class path", "io.netty:netty-codec-http2", "io.netty:netty-handler-proxy");
    }

    @Test
    void connections_withoutTheSecondPartOfNetty_nameTheDependencies() {
        assertThatThrownBy(() -> call(MakesConnections.class, "netty-handler-proxy-"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("io.netty:netty-handler-proxy");
    }

    @Test
    void connections_withoutVertx_needNone() throws Exception {
        assertThat(call(MakesConnections.class, "vertx-")).isEqualTo("made");
    }

    @Test
    void embeddedServer_withoutVertx_namesTheDependency() {
        assertThatThrownBy(() -> call(StartsServer.class, "vertx-"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("io.vertx:vertx-core");
    }

    @Test
    void embeddedServer_withoutVertxAndNetty_namesTheDependency() {
        assertThatThrownBy(() -> call(StartsServer.class, "vertx-", "netty-"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("io.vertx:vertx-core");
    }

    @Test
    void nodeAgent_withoutVertx_needsNone() throws Exception {
        assertThat(call(MakesAgent.class, "vertx-")).isEqualTo("made");
    }

    @Test
    void factsOfThisMachine_withoutOshi_nameTheDependency() {
        assertThatThrownBy(() -> call(ReadsMachine.class, "oshi-"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("com.github.oshi:oshi-core");
    }

    private static Fabric8ApiServer server() {
        Config config = Config.empty();
        config.setMasterUrl("https://127.0.0.1:1/");
        return Fabric8ApiServer.of(config, RequestLimit.DEFAULT);
    }

    /** Calls a class on the class path of this test without the jars whose names begin so. */
    private static Object call(Class<? extends Callable<Object>> type, String... without) throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(jarsWithout(without), ClassLoader.getPlatformClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader);
            Object result = loader.loadClass(type.getName())
                    .asSubclass(Callable.class)
                    .getConstructor()
                    .newInstance()
                    .call();
            // the last steps of our threads may need a class that was not loaded before
            for (Thread each : Thread.getAllStackTraces().keySet()) {
                if (each.getContextClassLoader() == loader && each.getName().startsWith("podcache-")) {
                    each.join(Duration.ofSeconds(Patience.SECONDS).toMillis());
                }
            }
            return result;
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    private static URL[] jarsWithout(String... names) throws IOException {
        List<URL> kept = new ArrayList<>();
        int left = 0;
        for (String file : Splitter.on(File.pathSeparatorChar).split(System.getProperty("java.class.path", ""))) {
            if (List.of(names).stream()
                    .anyMatch(name -> Path.of(file).getFileName().toString().startsWith(name))) {
                left++;
            } else {
                kept.add(Path.of(file).toUri().toURL());
            }
        }
        assertThat(left).as("jars that were left out").isPositive();
        return kept.toArray(new URL[0]);
    }
}
