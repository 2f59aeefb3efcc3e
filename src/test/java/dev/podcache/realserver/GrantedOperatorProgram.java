package dev.podcache.realserver;

import dev.podcache.Podcache;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.Referrer;
import dev.podcache.testing.ForkedJava;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * An operator in a process of its own, whose access follows its references. It registers Secrets, prints a line for each,
 * with what a get of it ended with, and stays until it is killed.
 */
final class GrantedOperatorProgram {

    private record Site(String uid) implements Referrer {}

    private GrantedOperatorProgram() {}

    /**
     * Starts it.
     *
     * @param firstSync how long a get waits for access
     */
    static Process start(Path kubeconfig, String namespace, Duration firstSync, String... secrets) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(kubeconfig.toString(), namespace, firstSync.toString()));
        arguments.addAll(List.of(secrets));
        return ForkedJava.program(List.of("-Xmx64m"), GrantedOperatorProgram.class, arguments)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    public static void main(String[] arguments) throws InterruptedException {
        String namespace = arguments[1];
        try (KubernetesClient client = new KubernetesClientBuilder()
                        .withConfig(Config.fromKubeconfig(Path.of(arguments[0]).toFile()))
                        .build();
                Podcache cache = Podcache.builder(client)
                        .grantsFollow()
                        .firstSyncTimeout(Duration.parse(arguments[2]))
                        .build()) {
            for (String secret : Arrays.asList(arguments).subList(3, arguments.length)) {
                cache.register(new Site(secret), Set.of(ObjectRef.of(ObjectKind.SECRET, namespace, secret)));
                System.out.println(secret + " " + read(cache, namespace, secret));
            }
            Thread.currentThread().join();
        }
    }

    private static String read(Podcache cache, String namespace, String secret) {
        try {
            cache.secrets().getObject(namespace, secret);
            return "read";
        } catch (NotSynced refused) {
            return String.valueOf(refused.reason());
        }
    }
}
