import { expect, test } from 'vitest';
import { isPublicAddress } from './addresses.js';

test('addresses of this machine, private networks, links and special uses are not public', () => {
  const addresses = [
    '0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.0.9 169.254.169.254 172.16.0.1 172.31.255.255 192.168.0.1',
    '192.0.2.1 198.18.0.1 203.0.113.9 224.0.0.1 255.255.255.255',
    ':: ::1 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe ::10.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: fc00::1 fd12::1 fe80::1 fe80::1%eth0',
    'fec0::1 ff02::1 2001:db8::1 64:ff9b:1::1 ::ffff:0:127.0.0.1 localhost not-an-address',
  ].flatMap((line) => line.split(' '));
  expect(addresses.filter(isPublicAddress)).toEqual([]);
});

test('other addresses are public, also when an IPv6 address stands for them', () => {
  const addresses = [
    '1.1.1.1 8.8.8.8 100.63.0.1 172.15.0.1 172.32.0.1 192.167.1.1 223.255.255.255',
    '2606:4700:4700::1111 2a00:1450:4001::1 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1',
  ].flatMap((line) => line.split(' '));
  expect(addresses.filter((address) => !isPublicAddress(address))).toEqual([]);
});
