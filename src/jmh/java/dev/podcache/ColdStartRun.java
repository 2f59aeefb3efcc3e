package dev.podcache;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * How long a fresh JVM takes from {@code registerPod} to the first object of a real kube-apiserver, beside a GET of
 * fabric8 in a fresh JVM.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.ColdStartRun
 * }</pre>
 *
 * <p>Contestants take turns in 10 rounds, or system property {@code cold.rounds}. Both have a fabric8 client before the
 * time begins; Podcache is built before it too. Beside the time stand the classes that were loaded in it, the processor
 * time of the whole JVM, and the time of a second object, which finds everything loaded and connected: what the server
 * and the list need.
 */
public final class ColdStartRun {

    private static final int ROUNDS = Integer.getInteger("cold.rounds", 10);
    private static final String NAMESPACE = "cold";
    private static final String FIRST = "first";
    private static final String SECOND = "second";

    private ColdStartRun() {}

    private enum ColdReader {
        PODCACHE,
        GET
    }

    /** Runs all rounds, or, with the name of a contestant and a kubeconfig, one start of it. */
    public static void main(String[] args) throws IOException, InterruptedException, JMException {
        if (args.length == 2) {
            start(ColdReader.valueOf(args[0]), Path.of(args[1]));
        } else {
            runAll();
        }
    }

    private static void runAll() throws IOException, InterruptedException {
        try (RealApiServer server = RealApiServer.start()) {
            try (KubernetesClient admin = server.client()) {
                admin.resource(new NamespaceBuilder()
                                .withNewMetadata()
                                .withName(NAMESPACE)
                                .endMetadata()
                                .build())
                        .create();
                for (String name : List.of(FIRST, SECOND)) {
                    admin.resource(new SecretBuilder()
                                    .withNewMetadata()
                                    .withNamespace(NAMESPACE)
                                    .withName(name)
                                    .endMetadata()
                                    .withStringData(Map.of("key", "value"))
                                    .build())
                            .create();
                }
            }
            Map<ColdReader, List<Double>> taken = new LinkedHashMap<>();
            for (int round = 0; round < ROUNDS; round++) {
                for (ColdReader way : ColdReader.values()) {
                    String line = startJvm(way, server.kubeconfig());
                    System.out.printf("round %d  %-8s %s%n", round + 1, way, line);
                    taken.computeIfAbsent(way, unused -> new ArrayList<>())
                            .add(Double.valueOf(line.substring(0, line.indexOf(' '))));
                }
            }
            taken.forEach((way, millis) -> {
                List<Double> sorted = millis.stream().sorted().toList();
                System.out.printf(
                        "%-8s median %.0f ms (%.0f to %.0f)%n",
                        way, sorted.get(sorted.size() / 2), sorted.get(0), sorted.get(sorted.size() - 1));
            });
        }
    }

    private static String startJvm(ColdReader way, Path kubeconfig) throws IOException, InterruptedException {
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        classPathOfAUser(),
                        ColdStartRun.class.getName(),
                        way.name(),
                        kubeconfig.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String printed = new String(jvm.getInputStream().readAllBytes(), UTF_8);
        if (!jvm.waitFor(1, TimeUnit.MINUTES) || jvm.exitValue() != 0) {
            throw new IllegalStateException(way + " failed: " + printed);
        }
        return printed.lines().reduce("", (before, last) -> last);
    }

    /** Without what only tests have, and Netty loads and verifies if it is there. */
    private static String classPathOfAUser() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("bouncycastle"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static void start(ColdReader way, Path kubeconfig) throws IOException, JMException {
        Config config = Config.fromKubeconfig(Files.readString(kubeconfig));
        try (KubernetesClient client =
                        new KubernetesClientBuilder().withConfig(config).build();
                Podcache cache = way == ColdReader.GET
                        ? null
                        : Podcache.builder(client)
                                .firstSyncTimeout(Duration.ofMinutes(1))
                                .build()) {
            int classes = ManagementFactory.getClassLoadingMXBean().getLoadedClassCount();
            long processor = processorTime();
            long begin = System.nanoTime();
            read(client, cache, FIRST);
            long first = System.nanoTime();
            int loaded = ManagementFactory.getClassLoadingMXBean().getLoadedClassCount() - classes;
            long used = processorTime() - processor;
            read(client, cache, SECOND);
            long second = System.nanoTime();
            System.out.printf(
                    "%.0f ms to the first object, %d classes, %.0f ms of processor time; %.1f ms to the second%n",
                    (first - begin) / 1e6, loaded, used / 1e6, (second - first) / 1e6);
        }
    }

    private static void read(KubernetesClient client, Podcache cache, String name) {
        if (cache == null) {
            client.secrets().inNamespace(NAMESPACE).withName(name).require();
        } else {
            cache.registerPod(Pods.withSecrets(NAMESPACE, name, "uid-" + name, List.of(name)));
            cache.secrets().getObject(NAMESPACE, name);
        }
    }

    private static long processorTime() throws JMException {
        return (long) ManagementFactory.getPlatformMBeanServer()
                .getAttribute(new ObjectName("java.lang:type=OperatingSystem"), "ProcessCpuTime");
    }
}
