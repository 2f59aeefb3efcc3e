package dev.podcache.cli.observe;

import dev.podcache.cli.output.Account;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Who is told what an agent does.
 *
 * @param account of what happens
 * @param sightings told, on the readers' threads, when an object is seen to have changed
 * @param requestsAtServer how many requests the server counted, or {@link Progress#UNKNOWN}
 */
public record Audience(Account account, Consumer<Sighting> sightings, LongSupplier requestsAtServer) {}
