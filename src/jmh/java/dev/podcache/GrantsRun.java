package dev.podcache;

import dev.podcache.access.GrantPolicy;
import dev.podcache.access.Grants;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.testing.RealApiServer;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How long it takes from the creation of an owner until an operator has read the Secret that it names, with {@link Grants}
 * between them, on a real server: the one of a kubeconfig of an administrator, who may impersonate, or else a
 * kube-apiserver that is started here.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.GrantsRun -Djmh.args=admin.kubeconfig
 * }</pre>
 *
 * <p>System properties: {@code grants.owners} (2000), {@code grants.namespaces} (50), {@code grants.shared}, how many owners
 * name one Secret (10), {@code grants.threads}, how many owners are created at once (8). Everything that it creates has names
 * that begin with {@code grants-run}, and is deleted at the end. The controller and the operator have exactly the rights
 * that {@code podcache grants --print-rbac} prints.
 */
public final class GrantsRun {

    private static final String GROUP = "grants-run.example.dev";
    private static final ResourceDefinitionContext SITES = new ResourceDefinitionContext.Builder()
            .withGroup(GROUP)
            .withVersion("v1")
            .withKind("Site")
            .withPlural("sites")
            .withNamespaced(true)
            .build();
    private static final String DEFINITION = """
            {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
             "metadata": {"name": "sites.%1$s"},
             "spec": {"group": "%1$s", "scope": "Namespaced",
               "names": {"kind": "Site", "plural": "sites", "singular": "site"},
               "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                 {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}
            """.formatted(GROUP);
    private static final Duration GIVE_UP = Duration.ofMinutes(2);

    private final Path kubeconfig;
    private final KubernetesClient admin;
    private final Path folder;
    private final int owners = Integer.getInteger("grants.owners", 2_000);
    private final int namespaces = Integer.getInteger("grants.namespaces", 50);
    private final int shared = Integer.getInteger("grants.shared", 10);
    private final AtomicLong writes = new AtomicLong();
    private final AtomicLong largest = new AtomicLong();

    private GrantsRun(Path kubeconfig) throws Exception {
        this.kubeconfig = kubeconfig;
        this.folder = Files.createTempDirectory("grants-run");
        this.admin = client("");
    }

    /** Runs it and prints the figures. */
    public static void main(String[] args) throws Exception {
        Path kubeconfig =
                args.length > 0 ? Path.of(args[0]) : RealApiServer.shared().kubeconfig();
        GrantsRun run = new GrantsRun(kubeconfig);
        try {
            run.prepare();
            run.measure();
        } finally {
            run.clean();
        }
    }

    private KubernetesClient client(String user) throws Exception {
        Config config = Config.fromKubeconfig(Files.readString(kubeconfig));
        if (!user.isEmpty()) {
            config.setImpersonateUsername(user);
            config.setImpersonateGroups("system:authenticated");
        }
        config.setRequestRetryBackoffLimit(0);
        // the deletion of all owners of a namespace
        config.setRequestTimeout((int) GIVE_UP.toMillis());
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    private String namespace(int owner) {
        return "grants-run-" + owner % namespaces;
    }

    /** Owners of one namespace share Secrets. */
    private String secret(int owner) {
        return "s" + owner / namespaces / shared;
    }

    private Path policy() throws Exception {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < namespaces; i++) {
            names.add(namespace(i));
        }
        return Files.writeString(folder.resolve("policy.yaml"), """
                apiVersion: podcache.dev/v1alpha1
                kind: GrantPolicy
                metadata: {name: grants-run}
                spec:
                  role: grants-run
                  namespaces: [%s]
                  owners:
                  - apiVersion: %s/v1
                    kind: Site
                    references: [{kind: Secret, path: .spec.secretName}]
                """.formatted(String.join(", ", names), GROUP));
    }

    private void prepare() throws Exception {
        admin.load(new ByteArrayInputStream(DEFINITION.getBytes(StandardCharsets.UTF_8)))
                .resources()
                .forEach(resource -> resource.createOr(existing -> existing.update()));
        inParallel(namespaces, i -> {
            admin.resource(new NamespaceBuilder()
                            .withNewMetadata()
                            .withName(namespace(i))
                            .endMetadata()
                            .build())
                    .createOr(existing -> existing.update());
            for (int owner = i; owner < owners + namespaces; owner += namespaces * shared) {
                admin.resource(new SecretBuilder()
                                .withNewMetadata()
                                .withNamespace(namespace(owner))
                                .withName(secret(owner))
                                .endMetadata()
                                .addToStringData("key", "value")
                                .build())
                        .createOr(existing -> existing.update());
            }
        });
        CapturedConsole console = new CapturedConsole(folder);
        console.execute(
                "grants",
                "--file",
                policy().toString(),
                "--kubeconfig",
                kubeconfig.toString(),
                "--lease-namespace",
                namespace(0),
                "--print-rbac",
                "--controller",
                "grants-run-controller",
                "--operator",
                "grants-run-operator");
        admin.load(new ByteArrayInputStream(String.join("\n", console.out()).getBytes(StandardCharsets.UTF_8)))
                .resources()
                .forEach(resource -> resource.createOr(existing -> existing.update()));
    }

    private void measure() throws Exception {
        long before = heap();
        Watch watch = admin.rbac().roles().inAnyNamespace().watch(new RoleCounter());
        try (KubernetesClient controller = client("grants-run-controller");
                KubernetesClient operator = client("grants-run-operator");
                Grants grants = Grants.builder(controller)
                        .policy(GrantPolicy.read(policy()))
                        .leaseNamespace(namespace(0))
                        .start()) {
            // what a controller and an operator take in their first second, cold, is another figure
            while (!grants.isLeading()) {
                Thread.sleep(10);
            }
            inParallel(namespaces, i -> created(operator, i));
            writes.set(0);
            long[] nanos = new long[owners];
            long began = System.nanoTime();
            inParallel(owners, i -> nanos[i] = created(operator, namespaces + i));
            double minutes = (System.nanoTime() - began) / 60e9;
            Arrays.sort(nanos);
            System.out.printf(
                    "%d owners in %d namespaces, %d of them for a Secret, on %s%n",
                    owners, namespaces, shared, admin.getKubernetesVersion().getGitVersion());
            System.out.printf(
                    "creation of an owner until its Secret is read: median %d ms, p99 %d ms, longest %d ms%n",
                    nanos[owners / 2] / 1_000_000, nanos[owners * 99 / 100] / 1_000_000, nanos[owners - 1] / 1_000_000);
            System.out.printf(
                    "%.0f Role writes a minute (%d in all, %.0f owners a second), largest Role %d bytes%n",
                    writes.get() / minutes, writes.get(), owners / minutes / 60, largest.get());
            long[] refused = new long[Math.min(100, owners)];
            inParallel(refused.length, i -> refused[i] = revoked(operator, i));
            Arrays.sort(refused);
            System.out.printf(
                    "deletion of the last owner until its Secret is refused: median %d ms, longest %d ms%n",
                    refused[refused.length / 2] / 1_000_000, refused[refused.length - 1] / 1_000_000);
            watch.close();
            System.out.printf("heap of the controller: %.1f MB%n", (heap() - before) / 1e6);
        }
    }

    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private final class RoleCounter implements Watcher<Role> {

        @Override
        public void eventReceived(Action action, Role role) {
            if (role.getMetadata().getName().equals("grants-run")) {
                writes.incrementAndGet();
                largest.accumulateAndGet(
                        admin.getKubernetesSerialization().asJson(role).length(), Math::max);
            }
        }

        @Override
        public void onClose(WatcherException cause) {
            System.out.println("the watch of Roles has ended: the number of writes is too low");
        }
    }

    private GenericKubernetesResource site(int i, String name, String secret) {
        GenericKubernetesResource site = new GenericKubernetesResource();
        site.setApiVersion(GROUP + "/v1");
        site.setKind("Site");
        site.setMetadata(new ObjectMetaBuilder()
                .withNamespace(namespace(i))
                .withName(name)
                .build());
        site.setAdditionalProperty("spec", Map.of("secretName", secret));
        return site;
    }

    /** Creates an owner and returns the nanoseconds until its Secret is read. */
    private long created(KubernetesClient operator, int i) throws InterruptedException {
        long start = System.nanoTime();
        admin.resource(site(i, "site-" + i, secret(i))).create();
        awaitAccess(operator, namespace(i), secret(i), true);
        return System.nanoTime() - start;
    }

    /** Deletes the only owner of a Secret and returns the nanoseconds until it is refused. */
    private long revoked(KubernetesClient operator, int i) throws InterruptedException {
        GenericKubernetesResource gone = site(i, "gone-" + i, "gone-" + i);
        admin.resource(gone).create();
        awaitAccess(operator, namespace(i), "gone-" + i, true);
        admin.resource(gone).delete();
        long start = System.nanoTime();
        awaitAccess(operator, namespace(i), "gone-" + i, false);
        return System.nanoTime() - start;
    }

    /** Asks for a Secret, which need not exist, until that is allowed or refused. */
    private static void awaitAccess(KubernetesClient operator, String namespace, String secret, boolean allowed)
            throws InterruptedException {
        long start = System.nanoTime();
        while (true) {
            boolean got = true;
            try {
                operator.secrets().inNamespace(namespace).withName(secret).get();
            } catch (KubernetesClientException e) {
                if (e.getCode() != 403) {
                    throw e;
                }
                got = false;
            }
            if (got == allowed) {
                return;
            }
            if (System.nanoTime() - start > GIVE_UP.toNanos()) {
                throw new IllegalStateException("Secret " + namespace + "/" + secret + " is "
                        + (got ? "allowed" : "refused") + " after " + GIVE_UP.toSeconds() + " s");
            }
            Thread.sleep(10);
        }
    }

    /** One of many tasks. */
    private interface NumberedTask {
        void run(int number) throws Exception;
    }

    private static void inParallel(int tasks, NumberedTask task) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(Integer.getInteger("grants.threads", 8));
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < tasks; i++) {
                int number = i;
                all.add(threads.submit(() -> {
                    task.run(number);
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private void clean() throws Exception {
        inParallel(namespaces, i -> {
            admin.genericKubernetesResources(SITES).inNamespace(namespace(i)).delete();
            admin.namespaces().withName(namespace(i)).delete();
        });
        admin.apiextensions()
                .v1()
                .customResourceDefinitions()
                .withName("sites." + GROUP)
                .delete();
        admin.close();
    }
}
