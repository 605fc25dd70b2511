package lab

// TypesName has records of every type that dns-lookup supports but CNAME, in the forms that are easy to get wrong.
const TypesName = "types." + DNSZone

// typeRecords are in zone-file spelling. The parameter 65280 is undefined, and of LOC there is no version 1.
var typeRecords = []string{
	TypesName + ". 300 IN A 11.80.0.1",
	TypesName + ". 300 IN AAAA 2a10:80::1",
	TypesName + ". 300 IN MX 10 mail." + SiteZone + ".",
	TypesName + `. 300 IN TXT "a text"`,
	TypesName + ". 300 IN NS ns1." + TransitZone + ".",
	TypesName + `. 300 IN SOA ns1.` + TransitZone + `. host\.master.` + DNSZone + `. 2026010101 7200 900 1209600 300`,
	TypesName + `. 300 IN CAA 0 issue "ca.example.net; validationmethods=dns-01"`,
	TypesName + `. 300 IN CAA 0 issuewild ";"`,
	TypesName + `. 300 IN CAA 128 iodef "mailto:a\"b\\c@` + DNSZone + `"`,
	TypesName + ". 300 IN SRV 10 60 5060 sip." + DNSZone + ".",
	TypesName + ". 300 IN SRV 0 0 0 .",
	TypesName + `. 300 IN HTTPS 1 . alpn="h3,h2" ipv4hint=11.80.0.1 ipv6hint=2a10:80::1 ech=AEX+DQBBpQAgACA=`,
	TypesName + `. 300 IN HTTPS 2 edge.` + SiteZone + `. alpn=h2 no-default-alpn port=8443 mandatory=alpn,port`,
	TypesName + `. 300 IN SVCB 0 pool.` + SiteZone + `.`,
	TypesName + `. 300 IN SVCB 1 . alpn="f\\\\oo\\,bar" key65280="a b\"c;\\\001" key777=""`,
	TypesName + ". 300 IN DS 60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118",
	TypesName + ". 300 IN DNSKEY 257 3 13 " +
		"mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==",
	TypesName + ". 300 IN DNSKEY 256 3 8 " +
		"AwEAAaz/tAm8yTn4Mfeh5eyI96WSVexTBAvkMgJzkKTOiW1vkIbzxeF3+/4RgWOq7HrxRixHlFlExOLAJr5emLvN7SU=",
	TypesName + ". 300 IN TLSA 3 1 1 0C72AC70B745AC19998811B131D662C9AC69DBDBE7CB23E5B514B56664C5D3D6",
	TypesName + `. 300 IN NAPTR 100 50 "s" "SIP+D2U" "" _sip._udp.` + DNSZone + `.`,
	TypesName + `. 300 IN NAPTR 100 10 "u" "E2U+sip" "!^\\+(.*)$!sip:\\1@` + DNSZone + `!" .`,
	TypesName + `. 300 IN PTR we\"i\(r\)d\001.` + DNSZone + `.`,
	TypesName + ". 300 IN SSHFP 4 2 A87F1B687AC0E57D2A081A2F282672334D90ED316D2B818CA9580EA384D92401",
	TypesName + `. 300 IN URI 10 1 "https://` + DNSZone + `/?q=\"x\""`,
	TypesName + ". 300 IN LOC 52 22 23.5 N 4 53 32 E -2.50m 0.05m 10000m 10m",
	TypesName + `. 300 IN LOC \# 16 01121613800000008000000000989680`,
	TypesName + `. 300 IN HINFO "PC \"x\"" "Red Hat; Linux\\ \200"`,
}
