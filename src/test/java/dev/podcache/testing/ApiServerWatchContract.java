package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.testing.RawApi.Events;
import dev.podcache.testing.RawApi.Reply;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of an API server for watches. A subclass provides the server. Each test uses its own namespace. */
@Timeout(180)
public abstract class ApiServerWatchContract extends ApiServerFixture {

    private static final String STREAMED = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

    /** Returns a server that has Secrets and whose history no longer reaches back to version 1. */
    protected abstract RawApi forgetfulApi();

    @Test
    void watch_fromAListsVersion_tellsWhatCameLaterInOrder() throws Exception {
        put("before");
        long version = api().get(secrets).version();
        try (Events events = watch("&resourceVersion=" + version)) {
            Reply created = put("after");
            Reply labelled = label("after", "\"v\"");
            api().delete(secrets + "/after", "");
            Reply last = put("last");

            assertEvent(events.next(), "ADDED", "after", created.version());
            assertEvent(events.next(), "MODIFIED", "after", labelled.version());
            JsonNode deleted = events.next();
            assertThat(deleted.path("type").asText()).isEqualTo("DELETED");
            assertThat(deleted.at("/object/metadata/name").asText()).isEqualTo("after");
            assertThat(version(deleted)).isBetween(labelled.version() + 1, last.version() - 1);
            assertEvent(events.next(), "ADDED", "last", last.version());
        }
    }

    @Test
    void watch_fromAnOldVersion_tellsWhatWasMissed() throws Exception {
        long version = put("before").version();
        Reply created = put("missed");
        Reply labelled = label("missed", "\"v\"");

        try (Events events = watch("&resourceVersion=" + version)) {
            assertEvent(events.next(), "ADDED", "missed", created.version());
            assertEvent(events.next(), "MODIFIED", "missed", labelled.version());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&resourceVersion=", "&resourceVersion=0"})
    void watch_fromNoVersion_beginsWithWhatIsThere(String from) throws Exception {
        put("there");
        Reply labelled = label("there", "\"v\"");
        // the watch starts with the objects in the watch cache; this get waits until the cache is up to date
        api().get(secrets + "/there?resourceVersion=" + labelled.version());

        try (Events events = watch(from)) {
            assertEvent(events.next(), "ADDED", "there", labelled.version());
            Reply created = put("new");
            assertEvent(events.next(), "ADDED", "new", created.version());
        }
    }

    @Test
    void watch_events_sayTheirKind() throws Exception {
        try (Events events = watch("&resourceVersion=" + put("before").version())) {
            put("db");

            JsonNode object = events.next().path("object");
            assertThat(object.path("kind").asText() + " "
                            + object.path("apiVersion").asText())
                    .isEqualTo("Secret v1");
        }
    }

    @Test
    void watch_ofOneName_hearsOfNoOther() throws Exception {
        long version = put("before").version();
        try (Events events = watch("&fieldSelector=metadata.name%3Dmine&resourceVersion=" + version)) {
            put("other");
            Reply mine = put("mine");

            assertEvent(events.next(), "ADDED", "mine", mine.version());
        }
    }

    @Test
    void watch_objectEntersAndLeavesTheSelection_isAddedAndDeleted() throws Exception {
        long version = put("db").version();
        try (Events events = watch("&labelSelector=l%3Dv&resourceVersion=" + version)) {
            Reply entered = label("db", "\"v\"");
            Reply left = label("db", "null");

            assertEvent(events.next(), "ADDED", "db", entered.version());
            JsonNode deleted = events.next();
            assertEvent(deleted, "DELETED", "db", left.version());
            assertThat(deleted.at("/object/metadata/labels/l").asText()).isEqualTo("v");
        }
    }

    @Test
    void watch_podsOfANode_tellsTheMarkOfDeletionAndTheEnd() throws Exception {
        String pods = "/api/v1/namespaces/" + namespace + "/pods";
        String node = "node-" + namespace;
        long version = api().get("/api/v1/pods").version();
        try (Events events = api().watch(
                        "/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3D" + node + "&resourceVersion=" + version)) {
            Reply pod = api().post(pods, """
                    {"metadata":{"name":"web"},"spec":{"nodeName":"%s","containers":[{"name":"c","image":"i"}]}}""".formatted(node));
            Reply marked = api().delete(pods + "/web", "");
            api().delete(pods + "/web", "{\"gracePeriodSeconds\":0}");

            assertEvent(events.next(), "ADDED", "web", pod.version());
            JsonNode event = events.next();
            assertEvent(event, "MODIFIED", "web", marked.version());
            assertThat(event.at("/object/metadata/deletionTimestamp").asText()).isNotEmpty();
            JsonNode confirmed = events.next();
            assertThat(confirmed.path("type").asText()).isEqualTo("MODIFIED");
            assertThat(confirmed
                            .at("/object/metadata/deletionGracePeriodSeconds")
                            .asInt(-1))
                    .isZero();
            assertThat(events.next().path("type").asText()).isEqualTo("DELETED");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?gracePeriodSeconds=0"})
    void watch_podThatGoesAtOnce_isMarkedFirst(String query) throws Exception {
        String pods = "/api/v1/namespaces/" + namespace + "/pods";
        try (Events events = api().watch(pods + "?watch=1")) {
            api().post(pods, """
                    {"metadata":{"name":"web"},"spec":{"nodeName":"%s","containers":[{"name":"c","image":"i"}]}}""".formatted(query.isEmpty() ? "" : "node"));
            api().delete(pods + "/web" + query, "");

            assertThat(events.next().path("type").asText()).isEqualTo("ADDED");
            JsonNode marked = events.next();
            assertThat(marked.path("type").asText()).isEqualTo("MODIFIED");
            assertThat(marked.at("/object/metadata/deletionGracePeriodSeconds").asInt(-1))
                    .isZero();
            assertThat(events.next().path("type").asText()).isEqualTo("DELETED");
        }
    }

    @Test
    void watch_timeout_endsInGoodOrder() throws Exception {
        try (Events events =
                watch("&timeoutSeconds=1&resourceVersion=" + put("db").version())) {
            assertThat(events.nextOrEnd()).isNull();
        }
    }

    @Test
    void watch_bookmarksAskedFor_bringsOneBeforeItsTimeout() throws Exception {
        long version = put("before").version();
        try (Events events = watch("&fieldSelector=metadata.name%3Dquiet&allowWatchBookmarks=true&timeoutSeconds=5"
                + "&resourceVersion=" + version)) {
            long unselected = put("other").version();

            JsonNode bookmark = events.next();

            assertThat(bookmark.path("type").asText()).isEqualTo("BOOKMARK");
            assertThat(bookmark.at("/object/kind").asText()).isEqualTo("Secret");
            assertThat(version(bookmark)).isGreaterThanOrEqualTo(unselected);
        }
    }

    @Test
    void watch_expiredVersion_isToldByAnErrorEventAndOver() throws Exception {
        try (Events events = forgetfulApi().watch("/api/v1/secrets?watch=1&resourceVersion=1")) {
            JsonNode error = events.next();

            assertThat(error.path("type").asText()).isEqualTo("ERROR");
            assertThat(error.at("/object/kind").asText()).isEqualTo("Status");
            assertThat(error.at("/object/code").asInt()).isEqualTo(410);
            assertThat(error.at("/object/reason").asText()).isEqualTo("Expired");
            assertThat(error.at("/object/message").asText()).matches("too old resource version: \\d+ \\(\\d+\\)");
            assertThat(events.nextOrEnd()).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&resourceVersion=0"})
    void streamedList_ofOneName_isItsStateThenAMarkedBookmarkThenChanges(String from) throws Exception {
        if (refusesStreamedLists()) {
            return;
        }
        put("db");
        Reply labelled = label("db", "\"v\"");
        api().get(secrets + "/db?resourceVersion=" + labelled.version());

        try (Events events = watch(STREAMED + "&allowWatchBookmarks=true&fieldSelector=metadata.name%3Ddb" + from)) {
            assertEvent(events.next(), "ADDED", "db", labelled.version());
            assertEndOfInitialEvents(events.next(), labelled.version());
            Reply changed = label("db", "\"w\"");
            assertEvent(events.next(), "MODIFIED", "db", changed.version());
        }
    }

    @Test
    void streamedList_ofNothing_isTheMarkedBookmark() throws Exception {
        if (refusesStreamedLists()) {
            return;
        }
        long version = put("other").version();

        try (Events events = watch(STREAMED + "&allowWatchBookmarks=true&fieldSelector=metadata.name%3Ddb")) {
            assertEndOfInitialEvents(events.next(), version);
            Reply created = put("db");
            assertEvent(events.next(), "ADDED", "db", created.version());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "watch=1&sendInitialEvents=true, "
                + "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        "watch=1&resourceVersionMatch=NotOlderThan, "
                + "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        "sendInitialEvents=true, sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"
    })
    void streamedList_parametersThatContradictEachOther_isRefused(String query, String why) throws Exception {
        if (refusesStreamedLists()) {
            return;
        }

        Reply reply = api().get(secrets + "?" + query);

        assertThat(reply.code()).isEqualTo(422);
        assertThat(reply.text("/reason")).isEqualTo("Invalid");
        assertThat(reply.text("/message")).isEqualTo("ListOptions.meta.k8s.io \"\" is invalid: " + why);
        assertThat(reply.text("/details/kind")).isEqualTo("ListOptions");
    }

    @Test
    void streamedList_withoutBookmarks_hasNoEnd() throws Exception {
        if (refusesStreamedLists()) {
            return;
        }
        Reply created = put("db");

        try (Events events = watch(STREAMED + "&timeoutSeconds=1")) {
            assertEvent(events.next(), "ADDED", "db", created.version());
            assertThat(events.nextOrEnd()).isNull();
        }
    }

    @Test
    void watch_versionThatIsNoNumber_isRefused() throws Exception {
        Reply reply = api().get(secrets + "?watch=1&resourceVersion=bad");

        assertThat(reply.code()).isEqualTo(500);
        assertThat(reply.text("/message")).startsWith("resourceVersion: Invalid value: \"bad\": ");
    }

    /** Returns whether the server has streamed lists. The embedded server has them whatever version it reports. */
    protected boolean streamsLists() {
        return version().streamsLists();
    }

    /** Returns whether the server has no streamed lists; then it must answer the request for one with 422. */
    private boolean refusesStreamedLists() throws Exception {
        boolean refuses = !streamsLists();
        if (refuses) {
            Reply reply = api().get(secrets + "?watch=1&allowWatchBookmarks=true" + STREAMED);
            assertThat(reply.code()).isEqualTo(422);
        }
        return refuses;
    }

    private static void assertEndOfInitialEvents(JsonNode event, long version) {
        assertThat(event.path("type").asText()).isEqualTo("BOOKMARK");
        assertThat(event.path("object").path("kind").asText()).isEqualTo("Secret");
        assertThat(event.at("/object/metadata/annotations")
                        .path("k8s.io/initial-events-end")
                        .asText())
                .isEqualTo("true");
        assertThat(version(event)).isGreaterThanOrEqualTo(version);
    }

    private Events watch(String query) throws IOException, InterruptedException {
        return api().watch(secrets + "?watch=1" + query);
    }

    private Reply put(String name) throws IOException, InterruptedException {
        return api().post(secrets, named(name));
    }

    private Reply label(String name, String value) throws IOException, InterruptedException {
        return api().patch(secrets + "/" + name, MERGE, "{\"metadata\":{\"labels\":{\"l\":" + value + "}}}");
    }

    private static long version(JsonNode event) {
        return event.at("/object/metadata/resourceVersion").asLong();
    }

    private static void assertEvent(JsonNode event, String type, String name, long version) {
        assertThat(event.path("type").asText() + " "
                        + event.at("/object/metadata/name").asText() + " " + version(event))
                .isEqualTo(type + " " + name + " " + version);
    }
}
