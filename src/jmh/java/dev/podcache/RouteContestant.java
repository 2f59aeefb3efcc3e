package dev.podcache;

import java.util.List;

/** Reads one Secret for each of many routes, as an ingress router does. For one thread. */
interface RouteContestant extends AutoCloseable {

    /**
     * A route and its Secret.
     *
     * @param namespace of both
     * @param name of the route; its Secret has the same
     */
    record Route(String namespace, String name) {}

    /** What a contestant knows of a Secret that it cannot show. */
    String ABSENT = "absent";

    /** What a contestant knows of a Secret that the subject may not read. */
    String DENIED = "denied";

    /** Follows the Secrets of all routes; returns when all of them can be read. */
    void start(List<Route> routes) throws InterruptedException;

    /** Returns the value of a route's Secret, {@link #ABSENT}, {@link #DENIED}, or why it is not known. */
    String shown(Route route);

    /** Closes everything, connections included. */
    @Override
    void close();
}
