package dev.podcache.cli.hollow;

import com.google.common.collect.Lists;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.agent.HollowTemplate;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The pods of hollow nodes, each with a Secret: creates several at a time, and deletes them. Thread-safe. */
final class HollowLoad implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HollowLoad.class);
    private static final String LABEL = "podcache.dev/hollow";
    private static final int AT_A_TIME = 8;
    private static final int DELETED_AT_A_TIME = 50;
    private static final int TRIES = 5;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final Set<FailureReason> MAY_PASS =
            Set.of(FailureReason.UNAVAILABLE, FailureReason.TIMEOUT, FailureReason.THROTTLED);
    private static final int PAYLOAD = 1_000;

    private final ObjectApi<Secret> secrets;
    private final ObjectApi<Pod> pods;
    private final ObjectApi<Node> nodeApi;
    private final ObjectApi<Lease> leases;
    private final Timekeeper timekeeper;
    private final Executor workers;
    private final String namespace;
    private final HollowTemplate template;
    private final int nodes;
    private final int podsPerNode;
    private final AtomicLong next = new AtomicLong();
    private final CountDownLatch creating = new CountDownLatch(AT_A_TIME);
    private volatile boolean ended;

    HollowLoad(Fabric8ApiServer server, String namespace, HollowTemplate template, int nodes, int podsPerNode) {
        this.secrets = server.api(ObjectKind.SECRET, TIMEOUT);
        this.pods = server.api(ObjectKind.POD, TIMEOUT);
        this.nodeApi = server.api(ObjectKind.NODE, TIMEOUT);
        this.leases = server.api(ObjectKind.LEASE, TIMEOUT);
        this.timekeeper = server.timekeeper();
        this.workers = timekeeper.workers();
        this.namespace = namespace;
        this.template = template;
        this.nodes = nodes;
        this.podsPerNode = podsPerNode;
    }

    /** Starts to create the pods, one for each node, and then the next ones. Returns at once. Call once. */
    void start() {
        for (int i = 0; i < AT_A_TIME; i++) {
            workers.execute(this::createNext);
        }
    }

    private void createNext() {
        long number = next.getAndIncrement();
        if (number >= (long) nodes * podsPerNode) {
            creating.countDown();
            return;
        }
        String name = name(number);
        create(secrets, secret(name), () -> create(pods, pod(name, node(number)), this::createNext));
    }

    private String node(long number) {
        return template.name((int) (number % nodes));
    }

    private String name(long number) {
        return node(number) + "-" + number / nodes;
    }

    /** Creates an object, until it exists or the server refuses it, and then runs {@code more}. */
    private <T extends HasMetadata> void create(ObjectApi<T> api, T object, Runnable more) {
        if (ended) {
            creating.countDown();
            return;
        }
        api.create(object).whenCompleteAsync((created, failure) -> created(api, object, failure, more), workers);
    }

    private <T extends HasMetadata> void created(
            ObjectApi<T> api, T object, @Nullable Throwable failure, Runnable more) {
        FailureReason reason = failure == null ? null : ApiServerException.reasonOf(failure);
        if (failure == null || reason == FailureReason.ALREADY_EXISTS) {
            more.run();
            return;
        }
        boolean again = reason != null && MAY_PASS.contains(reason);
        log.warn(
                "{} {} was not created: {}; {}",
                object.getKind(),
                object.getMetadata().getName(),
                ApiServerException.describe(failure),
                again ? "retrying in 1 s" : "going on without it");
        timekeeper.schedule(PAUSE, () -> workers.execute(again ? () -> create(api, object, more) : more));
    }

    /**
     * Deletes the pods, their Secrets and the nodes with their Leases. Blocks. Call after {@link #start}.
     *
     * @throws ExecutionException if something was not deleted; then the rest is not tried
     */
    void delete() throws InterruptedException, ExecutionException {
        close();
        // a request that was sent is awaited, because the server may execute it
        if (!creating.await(1, TimeUnit.MINUTES)) {
            log.warn("the API server does not answer: pods that are being created now may remain; {}", remedy());
        }
        Predicate<HasMetadata> ours = object -> {
            Map<String, String> labels = object.getMetadata().getLabels();
            return labels != null && label().equals(labels.get(LABEL));
        };
        List<Supplier<CompletableFuture<?>>> deletions = new ArrayList<>();
        long created = Math.min(next.get(), (long) nodes * podsPerNode);
        for (long number = 0; number < created; number++) {
            ObjectKey key = ObjectKey.of(namespace, name(number));
            deletions.add(() -> deleted(pods, key, ours, TRIES));
            deletions.add(() -> deleted(secrets, key, ours, TRIES));
        }
        awaitAll(deletions);
        List<Supplier<CompletableFuture<?>>> ends = new ArrayList<>();
        for (int n = 0; n < nodes; n++) {
            String node = template.name(n);
            ends.add(() -> deleted(nodeApi, ObjectKey.of("", node), any -> true, TRIES));
            ends.add(() -> deleted(leases, ObjectKey.of("kube-node-lease", node), any -> true, TRIES));
        }
        awaitAll(ends);
        // what the nodes had sent when they were closed may have been executed after that
        TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
        awaitAll(ends);
    }

    private static void awaitAll(List<Supplier<CompletableFuture<?>>> deletions)
            throws InterruptedException, ExecutionException {
        for (List<Supplier<CompletableFuture<?>>> part : Lists.partition(deletions, DELETED_AT_A_TIME)) {
            CompletableFuture.allOf(part.stream().map(Supplier::get).toArray(CompletableFuture<?>[]::new))
                    .get();
        }
    }

    /** Deletes an object, unless it does not exist or is not ours. Tries again while the server does not answer. */
    private <T extends HasMetadata> CompletableFuture<Object> deleted(
            ObjectApi<T> api, ObjectKey key, Predicate<HasMetadata> ours, int tries) {
        CompletableFuture<Object> attempt = api.get(key)
                .thenCompose(object -> ours.test(object)
                        ? api.delete(key, object.getMetadata().getUid()).handle(HollowLoad::deletedOrNot)
                        : CompletableFuture.completedFuture(""));
        return attempt.exceptionallyCompose(failure -> {
            FailureReason reason = ApiServerException.reasonOf(failure);
            if (reason == FailureReason.NOT_FOUND || reason == FailureReason.CONFLICT) {
                return CompletableFuture.completedFuture("");
            }
            if (reason == null || !MAY_PASS.contains(reason) || tries == 1) {
                return CompletableFuture.failedFuture(ApiServerException.causeOf(failure));
            }
            CompletableFuture<Object> pause = new CompletableFuture<>();
            timekeeper.schedule(PAUSE, () -> workers.execute(() -> pause.complete("")));
            return pause.thenCompose(over -> deleted(api, key, ours, tries - 1));
        });
    }

    /** Of most kinds the server answers with a Status in place of the object, which is no failure. */
    private static Object deletedOrNot(@Nullable Object object, @Nullable Throwable failure) {
        if (failure != null && ApiServerException.reasonOf(failure) != FailureReason.UNREADABLE) {
            throw new CompletionException(ApiServerException.causeOf(failure));
        }
        return "";
    }

    /** Returns how a user deletes what {@link #delete} did not delete. */
    String remedy() {
        return "kubectl delete nodes %s to %s, and kubectl delete --namespace %s pods,secrets --selector %s=%s"
                .formatted(template.name(0), template.name(nodes - 1), namespace, LABEL, label());
    }

    private String label() {
        // a prefix may end with a character that a label value must not end with
        return template.name(0);
    }

    private Secret secret(String name) {
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .addToLabels(LABEL, label())
                .endMetadata()
                .withStringData(Map.of("value", "x".repeat(PAYLOAD)))
                .build();
    }

    private Pod pod(String name, String node) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .addToLabels(LABEL, label())
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .withEnableServiceLinks(true)
                .withAutomountServiceAccountToken(false)
                .addNewToleration()
                .withOperator("Exists")
                .endToleration()
                .addNewContainer()
                .withName("main")
                .withImage("hollow")
                .addNewEnvFrom()
                .withNewSecretRef()
                .withName(name)
                .withOptional(false)
                .endSecretRef()
                .endEnvFrom()
                .endContainer()
                .endSpec()
                .build();
    }

    /** Creates nothing more. */
    @Override
    public void close() {
        ended = true;
    }
}
