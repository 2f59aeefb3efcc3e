package dev.podcache.chaos;

import dev.podcache.testing.RawApi;
import dev.podcache.testing.RawApi.Reply;
import dev.podcache.testing.TcpProxy;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Who the caches are: a service account that may read, its token, and what goes wrong with both. */
final class ReaderAccount {

    private static final String NAME = "reader";
    private static final String ACCOUNTS = "/api/v1/namespaces/" + ChaosServer.NAMESPACE + "/serviceaccounts";
    private static final String BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

    private static final int GONE = 404;
    private static final int THERE_ALREADY = 409;
    private static final int ATTEMPTS = 40;
    private static final int PAUSE = 250;

    private final RawApi api;
    private final TcpProxy proxy;
    private volatile String token = "none yet";

    ReaderAccount(RawApi api, TcpProxy proxy) {
        this.api = api;
        this.proxy = proxy;
    }

    /** Creates it with all that it may do. */
    void create() throws InterruptedException {
        post("/apis/rbac.authorization.k8s.io/v1/clusterroles", """
                {"metadata": {"name": "reader"}, "rules": [
                  {"apiGroups": [""], "resources": ["secrets", "configmaps", "nodes"], "verbs": ["get", "list", "watch"]}]}
                """);
        allow();
        begin();
    }

    /** The present token; a client asks whenever it needs one. */
    String token() {
        return token;
    }

    List<ChaosFault> faults() {
        return List.of(
                // who is connected already would not notice
                new ChaosFault(
                        ChaosFault.Layer.ACCOUNT,
                        "access revoked",
                        500,
                        4_000,
                        ChaosFault.by(this::revoke, this::allow)),
                new ChaosFault(
                        ChaosFault.Layer.ACCOUNT,
                        "account deleted",
                        500,
                        6_000,
                        ChaosFault.by(this::delete, this::begin)));
    }

    private void begin() throws InterruptedException {
        post(ACCOUNTS, "{\"metadata\": {\"name\": \"" + NAME + "\"}}");
        token = newToken();
    }

    private String newToken() throws InterruptedException {
        return post(ACCOUNTS + "/" + NAME + "/token", "{}").text("/status/token");
    }

    /** The server believes a token that it has seen for ten seconds, whatever became of the account; not a new one. */
    private void delete() throws InterruptedException {
        String unseen = newToken();
        untilDone("deleting the account", GONE, () -> api.delete(ACCOUNTS + "/" + NAME, ""));
        token = unseen;
        proxy.reset();
    }

    private void allow() throws InterruptedException {
        post(BINDINGS, """
                {"metadata": {"name": "reader"},
                 "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
                 "subjects": [{"kind": "ServiceAccount", "name": "%s", "namespace": "%s"}]}
                """.formatted(NAME, ChaosServer.NAMESPACE));
    }

    private void revoke() throws InterruptedException {
        untilDone("revoking", GONE, () -> api.delete(BINDINGS + "/" + NAME, ""));
        proxy.reset();
    }

    private Reply post(String path, String json) throws InterruptedException {
        return untilDone("POST " + path, THERE_ALREADY, () -> api.post(path, json));
    }

    /** Repeats what the server, which may just have been restarted, does not answer. */
    private static Reply untilDone(String what, int doneBefore, AccountRequest request) throws InterruptedException {
        String answer = "nothing";
        for (int i = 0; i < ATTEMPTS; i++) {
            try {
                Reply reply = request.send();
                if (reply.code() / 100 == 2 || reply.code() == doneBefore) {
                    return reply;
                }
                answer = reply.code() + ": " + reply.body();
            } catch (IOException e) {
                answer = e.toString();
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE);
        }
        throw new IllegalStateException(what + " was answered " + answer);
    }

    /** Asks the server once. */
    @FunctionalInterface
    private interface AccountRequest {
        Reply send() throws IOException, InterruptedException;
    }
}
