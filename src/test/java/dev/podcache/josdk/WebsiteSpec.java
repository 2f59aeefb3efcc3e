package dev.podcache.josdk;

import java.util.List;

/**
 * What a website needs.
 *
 * @param secrets names of Secrets in the namespace of the website
 */
public record WebsiteSpec(List<String> secrets) {}
