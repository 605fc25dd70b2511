// @ts-check
// The words that a result in a link may hold, one a line: labels and states that this service writes itself. {} is
// something else that seen-typed.js permits.

export const words = `
A
AAAA
AS number
Address
Announced
Answer
Bot challenge
CAA
CNAME
Certificate
Chain
Cipher suites
Compression
Content-Security-Policy
Cookies
Country
Crawlers
Crawlers may visit
Cross-Origin Resource Sharing
Cross-Origin-Embedder-Policy
Cross-Origin-Opener-Policy
Cross-Origin-Resource-Policy
DKIM
DKIM record
DMARC
DMARC record
DNSKEY
DNSSEC
DS
Declared sitemaps
Delegation
Ended
Expires
Final URL
Frame protection
Groups
HINFO
HTTP/3
HTTPS
Holder
Hop {}
Hostname
IPv4
IPv6
Information leaks
Issuer
Known to the ASN service
LOC
MTA-STS
MTA-STS policy
MTA-STS record
MX
MX addresses
MX record
Median time
NAPTR
NS
Name servers
Name servers of the root
Name servers of {}
Names
Network
Network name
Not tried
Origins
Outcome
PTR
Path MTU
Peers
Permissions-Policy
Permitted by CAA
Prefix
Probes answered
Protocol
Protocol versions
Reached
Reason
Redirect by the page
Redirects to
Referrer-Policy
Registered
Registrar
Response time
Retired headers
Revocation
Rules
SHA-256 fingerprint
SOA
SPF
SPF lookups
SPF record
SRV
SSHFP
SVCB
Signed
Sitemaps
State
Status
Strict-Transport-Security
TLS
TLS reporting
TLS reporting record
TLSA
TXT
Trusted
URI
Updated
Valid to
Verdict
Why it ended
Without https
X-Content-Type-Options
robots.txt

all
all but some paths
answers
broken
closed
correct
degraded
down
everything
fails validation
filtered
good
listed
missing
no
no address
no answer
none
not applicable
not checked
not known
not offered
not signed
not tried
not valid
not validated
not verified
note
nothing
offered
open
private address
problem
revoked
signed and valid
skipped
some
unreachable
up
valid
warning
with faults
yes
br
deflate
gzip
zstd
notChecked
invalid
error
redirected
the registry has no such registration
a router or firewall rejected the probes
a router reported that the host cannot be reached
all probes were sent
all probes were sent and had time to be answered
the time for this check ran out
A firewall answered that it does not allow the probes.
A router answered that it cannot reach the destination.
After the last answer, ten hops in a row did not answer within 2 s, and neither did the destination.
The destination answered.
The destination itself rejected the probes.
The time for a trace ran out.
The trace reached its maximum number of hops before the destination.
the name does not exist (NXDOMAIN)
the domain’s name servers fail, or its DNSSEC signatures are not valid (SERVFAIL)
the resolver refused to answer (REFUSED)
no answer came in time
active
client delete prohibited
client hold
client renew prohibited
client transfer prohibited
client update prohibited
server delete prohibited
server hold
server renew prohibited
server transfer prohibited
server update prohibited
auto renew period
pending delete
redemption period

Cloudflare
Google
OpenDNS
Quad9
Applebot
Bingbot
CCBot
ClaudeBot
DuckDuckBot
GPTBot
Googlebot
YandexBot
HTTP/1.0
HTTP/1.1
HTTP/2
TLS 1.0
TLS 1.1
TLS 1.2
TLS 1.3
TLSv1.0
TLSv1.1
TLSv1.2
TLSv1.3
SSLv3
X25519MLKEM768
SecP256r1MLKEM768
SecP384r1MLKEM1024
x25519
x448
secp256r1
secp384r1
secp521r1
strong in {}
acceptable in {}
weak in {}
insecure in {}

{} OK
{} No Content
{} Moved Permanently
{} Found
{} See Other
{} Temporary Redirect
{} Permanent Redirect
{} Bad Request
{} Unauthorized
{} Forbidden
{} Not Found
{} Method Not Allowed
{} Not Acceptable
{} Gone
{} Misdirected Request
{} Too Many Requests
{} Unavailable For Legal Reasons
{} Internal Server Error
{} Not Implemented
{} Bad Gateway
{} Service Unavailable
{} Gateway Timeout

{} address
{} addresses
{} byte
{} bytes
{} day
{} days
{} hop
{} hops
{} octets
{} probe
{} probes
{} problem
{} problems
{} redirect
{} redirects
{} server
{} servers
{} warning
{} warnings
{}: {}
{}. {}: {}
{} after {}
{} ({})
Port {} of {}
Port {} (usually {}) of {}
Packets of more than {}
 behind hop {}
{} behind hop {}
 The last answer came from hop {}.
smtp
smtps
submission
http
https
ssh
domain
imap
imaps
pop3
pop3s
ftp

Browsers refuse {}
Many clients refuse {}
DNSSEC of {}
certificate of {}
denials of {}
name server {}
resolution of {}
its certificate
the certificate of {}
an intermediate certificate is missing
it has expired
it is for another name
it is not valid yet
it is self-signed
its root is not trusted
the certificate expired {} ago.
The certificate expired {} ago.
the certificate is for {}, not for this host.
The certificate is for {}, not for this host.
the certificate is self-signed: no authority vouches for it.
The certificate is self-signed: no authority vouches for it.
the chain ends in a root that is not trusted.
The chain ends in a root that is not trusted.

it answers {}
it answers neither over IPv4 nor over IPv6
it accepted the connection but did not answer in time
it refused the connection
it reset the connection without an answer
its name servers fail, or its DNSSEC signatures are not valid (SERVFAIL)
its name servers give no answer
no connection within {}
{} accepted the connection but did not answer in time.
{} did not accept a connection in time.
{} does not exist.
{} has no address.
{} refused the connection.
{} reset the connection without an answer.
{} answers {} without a redirect
The name servers of {} failed (SERVFAIL).
The server answered {}.
failed to resolve the name (SERVFAIL)
refused the query (REFUSED)
say that it does not exist
did not answer in time
{} (an alias of {})

asks all crawlers to stay away from the whole site
asks crawlers that it does not name to stay away from some paths
asks crawlers to stay away from some paths
lets crawlers visit everything
It has no sitemap.
Its sitemap can be read.
Its sitemap cannot be used.
DMARC is missing
DMARC lets receivers deliver it
SPF lets anyone send (+all)
neither sends nor accepts mail
All four resolvers give the same {} records for {}.
All four resolvers say that {} does not exist.
All four resolvers say that {} has no {} records.
The resolvers give different {} records for {}, even when asked again a second later.
The resolvers give different {} records for {}, as is usual for names that are served from several places (CDN, load \
balancing).
The resolvers that answered give the same {} records for {}.
{} return {} records for {}; {} does not.
, and neither could the domain's own name servers
{} {} record
{} {} records
{} redirect leads from {} to {}, which answers {}
{} redirects lead from {} to {}, which answers {}
No redirect was followed. {} answers {}.
One redirect was followed. {} answers {}.
{} redirects were followed. {} answers {}.
{} has been registered since {}
{} has been registered since {} through {}
{} is registered
{} is registered through {}
{} in {} ({})
 to {}
{}, line {}
The sitemap {}
{} of {} sitemaps cannot be used.
The server answers {}, which is an error on its side.
The server asks for a client certificate; none was sent.
The server does not support {}.
The server supports nothing better than {}, which clients refuse (RFC 8996).
No answer: a firewall may drop the packets, or there is no host.
A router or the host's network says that the host cannot be reached.
The certificate's issuer is not known and was not sent: an intermediate certificate is missing.
the certificate's issuer is not known and was not sent: an intermediate certificate is missing.
found
nosniff
same-origin
no-referrer
strict-origin-when-cross-origin
require-corp
, apart from DKIM, which cannot be checked without a selector
 {} is missing.
 {} are missing.
 {} has a fault.
 {} has a warning.
 {} have faults.
 {} have warnings.
 {} could not be looked up.
`
  .split("\n")
  .filter((line) => line !== "");
