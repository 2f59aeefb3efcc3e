package dev.podcache.agent;

import com.google.common.collect.ImmutableMap;
import dev.podcache.agent.DemoSchedule.Act;
import dev.podcache.embedded.Faults;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What happens in the demo, act by act. The changes are made at the server, behind the agent's back. */
final class DemoScript {

    private static final ObjectKey ROTATED = ObjectKey.of("shop", "db-password");
    private static final ObjectKey DELETED = ObjectKey.of("billing", "tax-rates");
    private static final String LONG_TTL = "300";

    private final DemoCluster demo;
    private final NodeAgent agent;
    private final Changes changes;
    private final Account account;
    private final boolean cached;
    private @Nullable ConfigMap deleted;
    private Faults.@Nullable Switched failure;
    private Counts beforeFailure = Counts.NONE;

    DemoScript(DemoCluster demo, NodeAgent agent, Changes changes, Account account) {
        this.demo = demo;
        this.agent = agent;
        this.changes = changes;
        this.account = account;
        this.cached = agent.strategy() != ChangeDetectionStrategy.GET;
    }

    /** Plays one act. */
    void play(Act act) {
        switch (act) {
            case ROTATION -> rotate();
            case ARRIVAL -> arrive();
            case DEPARTURE -> depart();
            case DELETION -> delete();
            case RETURN -> bringBack();
            case FAILURE -> fail();
            case RECOVERY -> recover();
            case LONGER_TTL -> lengthenTtl();
            case END -> {}
        }
    }

    private void rotate() {
        heading(
                "Secret " + ROTATED + " is rotated.",
                "Its pods get the new one within the TTL, " + demo.ttlSeconds() + " s.");
        changes.make(ObjectKind.SECRET, ROTATED, "rotation of Secret " + ROTATED);
        Secret secret = cluster().get(Secret.class, ROTATED.namespace(), ROTATED.name());
        secret.getData().put("password", "ZGVtby1zZWNvbmQ=");
        did("updated Secret " + ROTATED, cluster().update(secret));
    }

    private void arrive() {
        heading("A pod comes.", "What it refers to is fetched anew, so that it starts with nothing old.");
        List<HasMetadata> mailer = DemoCluster.load("demo-mailer.yaml");
        mailer.forEach(object -> did("created " + name(object), demo.create(object)));
    }

    private void depart() {
        Pod catalog = cluster().get(Pod.class, "shop", "catalog-0");
        heading("A pod goes.", "What only it needed, Secret shop/catalog-search, is dropped from memory at once.");
        cluster().deleteNow(catalog);
        did("deleted " + name(catalog));
    }

    private void delete() {
        account.heading(
                "ConfigMap " + DELETED + " is deleted while pods refer to it. That is seen within the TTL too.");
        changes.make(ObjectKind.CONFIG_MAP, DELETED, "deletion of ConfigMap " + DELETED);
        ConfigMap known = cluster().get(ConfigMap.class, DELETED.namespace(), DELETED.name());
        deleted = known;
        cluster().delete(known);
        did("deleted " + name(known));
    }

    private void bringBack() {
        heading(
                "It returns.",
                "That an object is missing is never taken for granted, so this is seen at the next read.");
        changes.make(ObjectKind.CONFIG_MAP, DELETED, "return of ConfigMap " + DELETED);
        ConfigMap again = new ConfigMapBuilder(deleted)
                .editMetadata()
                .withUid(null)
                .withResourceVersion(null)
                .endMetadata()
                .build();
        did("created " + name(again), cluster().create(again));
    }

    private void fail() {
        heading("The API server fails: every connection is cut.", "What is known keeps being served, past its TTL.");
        beforeFailure = agent.counts();
        failure = demo.cutOff();
        account.tell(new Event("server", "answers nothing", ImmutableMap.of("up", false)));
    }

    private void recover() {
        if (failure != null) {
            failure.close();
        }
        Counts during = agent.counts().since(beforeFailure);
        heading("The API server is back.", "What is known is refreshed, object by object.");
        account.tell(new Event(
                "outage",
                during.reads() + " reads while it failed: " + during.hits() + " fresh, " + during.stale()
                        + " served stale, " + during.failed() + " in vain",
                ImmutableMap.of(
                        "reads", during.reads(),
                        "hits", during.hits(),
                        "staleServed", during.stale(),
                        "failed", during.failed())));
    }

    private void lengthenTtl() {
        heading(
                "The cluster grew: its control plane writes a TTL of " + LONG_TTL + " s to the Node.",
                "It holds at once, for what is cached too.");
        Node node = cluster().get(Node.class, "", DemoCluster.NODE);
        node.getMetadata().getAnnotations().put(NodeTtlSource.ANNOTATION, LONG_TTL);
        did("annotated " + name(node), cluster().update(node));
    }

    /** Says what happens, and what comes of it if there is a cache. */
    private void heading(String fact, String withCache) {
        account.heading(cached ? fact + " " + withCache : fact);
    }

    private InMemoryCluster cluster() {
        return demo.cluster();
    }

    private void did(String what, HasMetadata object) {
        did(what + ", now at resourceVersion " + object.getMetadata().getResourceVersion());
    }

    private void did(String what) {
        account.tell(new Event("cluster", what, ImmutableMap.of("did", what)));
    }

    private static String name(HasMetadata object) {
        String namespace = object.getMetadata().getNamespace();
        return object.getKind() + " " + (namespace == null ? "" : namespace + "/")
                + object.getMetadata().getName();
    }
}
