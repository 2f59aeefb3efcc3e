package dev.podcache.cli.demo;

import com.google.common.collect.ImmutableList;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.StatusException;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import org.jspecify.annotations.Nullable;

/** The script of the demo. Each act changes something in the cluster or at the API servers; the agents only see it. */
final class DemoScript {

    /** The acts in their order. */
    enum Act {
        ROTATION(0.07),
        ARRIVAL(0.20),
        DEPARTURE(0.29),
        DELETION(0.36),
        /** Later than the deletion by more than a TTL, so that CACHE sees the deletion. */
        RETURN(0.53),
        FAILURE(0.64),
        /** Later than the failure by more than a TTL, so that CACHE serves stale objects. */
        RECOVERY(0.80),
        LONGER_TTL(0.92);

        /** When the act begins, as a part of the length of the script. */
        final double begin;

        Act(double begin) {
            this.begin = begin;
        }
    }

    private static final ObjectId ROTATED = new ObjectId(ObjectKind.SECRET, ObjectKey.of("shop", "db-password"));
    private static final ObjectId DELETED = new ObjectId(ObjectKind.CONFIG_MAP, ObjectKey.of("billing", "tax-rates"));
    private static final String LONG_TTL = "300";

    private final DemoCluster demo;
    private final InMemoryCluster cluster;
    private final ImmutableList<DemoSide> sides;
    private final EventWriter events;
    private @Nullable ConfigMap deleted;

    DemoScript(DemoCluster demo, ImmutableList<DemoSide> sides, EventWriter events) {
        this.demo = demo;
        this.cluster = demo.cluster();
        this.sides = sides;
        this.events = events;
    }

    /** Plays an act. Reports that it is skipped if the user removed its object before. */
    void play(Act act) {
        try {
            switch (act) {
                case ROTATION -> rotate();
                case ARRIVAL -> arrive();
                case DEPARTURE -> depart();
                case DELETION -> delete();
                case RETURN -> bringBack();
                case FAILURE -> fail();
                case RECOVERY -> recover();
                case LONGER_TTL -> lengthenTtl();
            }
        } catch (StatusException refused) {
            events.write(ProgramEvent.of("skipped", "message", String.valueOf(refused.getMessage())));
        }
    }

    private void rotate() {
        events.heading(ROTATED + " is rotated. GET: the next read returns the new version. CACHE: within the TTL, "
                + demo.ttlSeconds() + " s. WATCH: within milliseconds.");
        sides.forEach(side -> side.changes().expect(ROTATED, "rotation of " + ROTATED));
        Secret secret = cluster.get(
                Secret.class, ROTATED.key().namespace(), ROTATED.key().name());
        secret.getData().put("password", "ZGVtby1zZWNvbmQ=");
        did("updated", cluster.update(secret));
    }

    private void arrive() {
        events.heading("A pod is created. CACHE: its objects are fetched again, so that it starts with nothing old."
                + " WATCH: only objects that no other pod refers to need a request.");
        DemoCluster.load("demo-mailer.yaml").forEach(object -> did("created", demo.create(object)));
    }

    private void depart() {
        events.heading(
                "A pod is deleted. Only this pod refers to Secret shop/catalog-search: the Secret is dropped from"
                        + " memory, and its watch is closed.");
        Pod catalog = cluster.get(Pod.class, "shop", "catalog-0");
        cluster.deleteNow(catalog);
        did("deleted", catalog);
    }

    private void delete() {
        events.heading(DELETED + " is deleted while pods refer to it.");
        sides.forEach(side -> side.changes().expect(DELETED, "deletion of " + DELETED));
        ConfigMap known = cluster.get(
                ConfigMap.class, DELETED.key().namespace(), DELETED.key().name());
        cluster.delete(known);
        deleted = known;
        did("deleted", known);
    }

    private void bringBack() {
        if (deleted != null) {
            events.heading(DELETED + " is created again. CACHE: the next read sees it, because absence is not cached."
                    + " WATCH: the watch continued while the object was absent.");
            sides.forEach(side -> side.changes().expect(DELETED, "return of " + DELETED));
            deleted.getMetadata().setUid(null);
            deleted.getMetadata().setResourceVersion(null);
            did("created", cluster.create(deleted));
        }
    }

    private void fail() {
        events.heading("The API server fails: every connection is cut. GET: reads retry, for at most 10 s. CACHE and"
                + " WATCH: cached objects are served, and count as stale.");
        sides.forEach(DemoSide::fail);
    }

    private void recover() {
        events.heading("The API server is back. GET: waiting reads are answered. CACHE: objects are refreshed. WATCH:"
                + " each watch is opened again, after a random delay, and continues from its last event.");
        sides.forEach(DemoSide::recover);
    }

    private void lengthenTtl() {
        events.heading("The control plane sets a TTL of " + LONG_TTL + " s on the Node, as it does in a larger cluster."
                + " CACHE: objects are refreshed less often.");
        Node node = cluster.get(Node.class, "", DemoCluster.NODE);
        node.getMetadata().getAnnotations().put(NodeTtlSource.ANNOTATION, LONG_TTL);
        did("annotated", cluster.update(node));
    }

    private void did(String verb, HasMetadata object) {
        String namespace = object.getMetadata().getNamespace();
        String name = (namespace == null ? "" : namespace + "/")
                + object.getMetadata().getName();
        events.write(ProgramEvent.of("cluster", "did", verb + " " + object.getKind() + " " + name));
    }
}
