package dev.podcache.cli.demo;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.demo.DemoSchedule.Act;
import dev.podcache.cli.observe.ReadsInOutage;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.Event;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.StatusException;
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
    private final DemoSide told;
    private final ImmutableList<DemoSide> sides;
    private final Account account;
    private @Nullable ConfigMap deleted;

    /**
     * The script for these sides.
     *
     * @param told the side that the account is about
     * @param sides all of them
     */
    DemoScript(DemoCluster demo, DemoSide told, Iterable<DemoSide> sides) {
        this.demo = demo;
        this.told = told;
        this.sides = ImmutableList.copyOf(sides);
        this.account = told.account();
    }

    /** Plays one act, unless the user was there first and what it is about is gone. */
    void play(Act act) {
        try {
            perform(act);
        } catch (StatusException refused) {
            String why = String.valueOf(refused.getMessage());
            account.tell(new Event("skipped", why, ImmutableMap.of("message", why)));
        }
    }

    private void perform(Act act) {
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
                "The next read asks and gets the new one.",
                "Its pods get the new one within the TTL, " + demo.ttlSeconds() + " s.",
                "The API server says so at once: its pods get the new one within milliseconds.");
        expect(ObjectKind.SECRET, ROTATED, "rotation of Secret " + ROTATED);
        Secret secret = cluster().get(Secret.class, ROTATED.namespace(), ROTATED.name());
        secret.getData().put("password", "ZGVtby1zZWNvbmQ=");
        did("updated Secret " + ROTATED, cluster().update(secret));
        lookFor(ObjectKind.SECRET, ROTATED);
    }

    private void arrive() {
        heading(
                "A pod comes.",
                "",
                "What it refers to is fetched anew, so that it starts with nothing old.",
                "What only it refers to gets a watch; the rest is watched already, and costs nothing.");
        List<HasMetadata> mailer = DemoCluster.load("demo-mailer.yaml");
        mailer.forEach(object -> did("created " + name(object), demo.create(object)));
    }

    private void depart() {
        String dropped = "What only it needed, Secret shop/catalog-search, is dropped from memory at once";
        heading("A pod goes.", "", dropped + ".", dropped + ", and its watch is closed.");
        Pod catalog = cluster().get(Pod.class, "shop", "catalog-0");
        cluster().deleteNow(catalog);
        did("deleted " + name(catalog));
    }

    private void delete() {
        heading(
                "ConfigMap " + DELETED + " is deleted while pods refer to it.",
                "",
                "That is seen within the TTL too.",
                "That is seen just as fast.");
        expect(ObjectKind.CONFIG_MAP, DELETED, "deletion of ConfigMap " + DELETED);
        ConfigMap known = cluster().get(ConfigMap.class, DELETED.namespace(), DELETED.name());
        deleted = known;
        cluster().delete(known);
        did("deleted " + name(known));
        lookFor(ObjectKind.CONFIG_MAP, DELETED);
    }

    private void bringBack() {
        if (deleted == null) {
            return;
        }
        heading(
                "It returns.",
                "",
                "That an object is missing is never taken for granted, so this is seen at the next read.",
                "Its watch goes on while it is missing, so this is seen just as fast.");
        expect(ObjectKind.CONFIG_MAP, DELETED, "return of ConfigMap " + DELETED);
        ConfigMap again = new ConfigMapBuilder(deleted)
                .editMetadata()
                .withUid(null)
                .withResourceVersion(null)
                .endMetadata()
                .build();
        did("created " + name(again), cluster().create(again));
        lookFor(ObjectKind.CONFIG_MAP, DELETED);
    }

    private void fail() {
        heading(
                "The API server fails: every connection is cut.",
                "Reads try again, for 10 s at most, before they fail.",
                "What is known keeps being served, past its TTL.",
                "What is known keeps being served, and counts as stale.");
        sides.forEach(DemoSide::fail);
        account.tell(new Event("server", "answers nothing", ImmutableMap.of("up", false)));
    }

    private void recover() {
        heading(
                "The API server is back.",
                "Reads that still wait are answered.",
                "What is known is refreshed, object by object.",
                "Each watch is opened again and goes on where it broke off, after a pause of its own.");
        sides.forEach(DemoSide::recover);
        ReadsInOutage outage = told.outage();
        if (outage != null) {
            account.tell(outage.event());
        }
    }

    private void lengthenTtl() {
        heading(
                "The cluster grew: its control plane writes a TTL of " + LONG_TTL + " s to the Node.",
                "It is not for GET, which caches nothing.",
                "It holds at once, for what is cached too.",
                "It is for CACHE, which asks that seldom from now on; WATCH has no TTL.");
        Node node = cluster().get(Node.class, "", DemoCluster.NODE);
        node.getMetadata().getAnnotations().put(NodeTtlSource.ANNOTATION, LONG_TTL);
        did("annotated " + name(node), cluster().update(node));
    }

    /** Says what happens, and what comes of it under the strategy that the account is about. */
    private void heading(String fact, String get, String cache, String watch) {
        String consequence = switch (told.strategy()) {
            case GET -> get;
            case CACHE -> cache;
            case WATCH -> watch;
        };
        account.heading((fact + " " + consequence).strip());
    }

    private void expect(ObjectKind<?> kind, ObjectKey key, String what) {
        sides.forEach(side -> side.changes().make(kind, key, what));
    }

    private void lookFor(ObjectKind<?> kind, ObjectKey key) {
        sides.forEach(side -> side.lookFor(kind, key));
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
