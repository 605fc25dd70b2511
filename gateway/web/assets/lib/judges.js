// @ts-check
// What of each tool's answer is compared, in one module: a report needs all of them.

import asnLookup from "../tools/asn-lookup/facts.js";
import dnsDelegation from "../tools/dns-delegation/facts.js";
import dnsLookup from "../tools/dns-lookup/facts.js";
import dnsResolverCheck from "../tools/dns-resolver-check/facts.js";
import emailDnsHealth from "../tools/email-dns-health/facts.js";
import httpHeaders from "../tools/http-headers/facts.js";
import ipGeolocation from "../tools/ip-geolocation/facts.js";
import myIp from "../tools/my-ip/facts.js";
import packetLoss from "../tools/packet-loss/facts.js";
import ping from "../tools/ping/facts.js";
import portChecker from "../tools/port-checker/facts.js";
import redirectChecker from "../tools/redirect-checker/facts.js";
import robotsSitemap from "../tools/robots-sitemap/facts.js";
import securityHeaders from "../tools/security-headers/facts.js";
import sslChecker from "../tools/ssl-checker/facts.js";
import traceroute from "../tools/traceroute/facts.js";
import uptime from "../tools/uptime/facts.js";
import whoisLookup from "../tools/whois-lookup/facts.js";

/** The judge of each tool by its slug. @type {Record<string, import("./view.js").Judge>} */
export default {
  "asn-lookup": asnLookup,
  "dns-delegation": dnsDelegation,
  "dns-lookup": dnsLookup,
  "dns-resolver-check": dnsResolverCheck,
  "email-dns-health": emailDnsHealth,
  "http-headers": httpHeaders,
  "ip-geolocation": ipGeolocation,
  "my-ip": myIp,
  "packet-loss": packetLoss,
  ping,
  "port-checker": portChecker,
  "redirect-checker": redirectChecker,
  "robots-sitemap": robotsSitemap,
  "security-headers": securityHeaders,
  "ssl-checker": sslChecker,
  traceroute,
  uptime,
  "whois-lookup": whoisLookup,
};
