package dev.podcache.cli.doctor;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.credentials.CredentialsException;
import dev.podcache.object.Quoted;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Judges the credentials: whether there are any, whether they are accepted, and when they expire. Pure. */
final class CredentialDiagnoses {

    private static final String CHECK = "credentials";
    private static final Duration SOON = Duration.ofHours(24);
    private static final String NO_ACCESS = "every request is refused";
    private static final String RENEW =
            "renew them where they come from; the kubeconfig, its files and its credential plugin are read again without a"
                    + " restart";

    private static final String REQUEST =
            "start the agent with --bootstrap-kubeconfig, which requests another one, and --rotate-certificates; or renew it"
                    + " where it comes from";
    private static final String NODES = "system:node:";
    private static final String ANONYMOUS = "system:anonymous";

    private CredentialDiagnoses() {}

    /**
     * Returns what is to be said about the credentials.
     *
     * @param known empty if there are none
     * @param user the user that the server knows; empty if it cannot be asked
     * @param status the HTTP code that a request with them was answered with
     */
    static ImmutableList<Diagnosis> of(Optional<ClientCredentials> known, String user, int status, Instant now) {
        if (known.isEmpty() && !user.isEmpty() && !user.equals(ANONYMOUS)) {
            return ImmutableList.of(
                    Diagnosis.ok(CHECK, "none are sent; the server knows this client as " + Quoted.text(user)));
        }
        if (known.isEmpty()) {
            return ImmutableList.of(Diagnosis.problem(
                    CHECK,
                    "none are sent",
                    NO_ACCESS + ", or answered as for an anonymous user",
                    "give the kubeconfig's user a certificate, a token or an exec plugin; over http none are sent, as by"
                            + " kubectl"));
        }
        if (status == 401) {
            String expired = known.filter(each -> isOver(each, now))
                    .map(each -> ": the " + each.kind() + " expired at " + each.expires())
                    .orElse("");
            return ImmutableList.of(Diagnosis.problem(
                    CHECK, "the server does not accept them (401)" + expired, NO_ACCESS, remedy(known.get(), now)));
        }
        return ImmutableList.of(expiry(known.get(), user, now));
    }

    /** Returns what is to be said if the credentials cannot be read, and so nothing can be sent. */
    static Diagnosis unreadable(CredentialsException why) {
        return Diagnosis.problem(
                CHECK,
                Quoted.text(String.valueOf(why.getMessage())),
                "no request is sent",
                "correct that; `kubectl get --raw /version` with the same kubeconfig must work");
    }

    private static Diagnosis expiry(ClientCredentials known, String user, Instant now) {
        String who = Quoted.text(user.isEmpty() ? known.user() : user);
        String what = known.kind() + (who.isEmpty() ? "" : " of " + who);
        Instant end = known.expires();
        if (end == null) {
            return Diagnosis.ok(CHECK, what);
        }
        if (isOver(known, now)) {
            return Diagnosis.problem(CHECK, what + " expired at " + end, NO_ACCESS, remedy(known, now));
        }
        if (end.isBefore(now.plus(SOON)) && known.kind().equals("client certificate")) {
            return Diagnosis.note(CHECK, what + " expires soon, at " + end, "after that, " + NO_ACCESS, RENEW);
        }
        return Diagnosis.ok(CHECK, what + ", valid until " + end);
    }

    private static String remedy(ClientCredentials known, Instant now) {
        boolean ofNode =
                known.kind().equals("client certificate") && known.user().startsWith(NODES);
        return ofNode && isOver(known, now) ? REQUEST : RENEW;
    }

    private static boolean isOver(ClientCredentials known, Instant now) {
        Instant end = known.expires();
        return end != null && !end.isAfter(now);
    }
}
