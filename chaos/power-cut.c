/*
 * Makes kill -9 as bad as a power cut. Preloaded into the runtime, it notes beside each database file ("<file>.undo")
 * what every write replaces, and forgets the notes when the file is synced. A program that plays the notes back after the kill
 * has the file as a disk would have it that lost everything not yet synced.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct note {
  uint64_t offset;
  uint64_t length;
  uint64_t size_before;
};

static int ends_with(const char *text, const char *end) {
  size_t text_length = strlen(text), end_length = strlen(end);
  return text_length >= end_length && strcmp(text + text_length - end_length, end) == 0;
}

/* The handle of the notes for this file; -1 for files that are none of ours. */
static int open_notes(int file, int flags) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 8);
  if (length < 0) return -1;
  path[length] = 0;
  if (!ends_with(path, ".db") && !ends_with(path, ".db-wal")) return -1;
  strcat(path, ".undo");
  return open(path, flags | O_CLOEXEC, 0600);
}

static ssize_t (*real(const char *name))() { return (ssize_t(*)())dlsym(RTLD_NEXT, name); }

/* Keeps the bytes in [offset, offset + length) and the size that the file has now. */
static void keep(int file, uint64_t offset, uint64_t length) {
  int notes = open_notes(file, O_WRONLY | O_CREAT | O_APPEND);
  if (notes < 0) return;
  struct stat now;
  char *bytes = malloc(length ? length : 1);
  if (!bytes || fstat(file, &now) != 0) abort();
  ssize_t there = pread(file, bytes, length, (off_t)offset);
  struct note note = {offset, there > 0 ? (uint64_t)there : 0, (uint64_t)now.st_size};
  if (write(notes, &note, sizeof note) != sizeof note) abort();
  if (write(notes, bytes, note.length) != (ssize_t)note.length) abort();
  free(bytes);
  close(notes);
}

static void forget(int file) {
  int notes = open_notes(file, O_WRONLY | O_TRUNC);
  if (notes >= 0) close(notes);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
  keep(file, (uint64_t)offset, length);
  return real("pwrite")(file, bytes, length, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
  keep(file, (uint64_t)offset, length);
  return real("pwrite64")(file, bytes, length, offset);
}

static void keep_tail(int file, uint64_t length) {
  struct stat now;
  if (fstat(file, &now) != 0 || (uint64_t)now.st_size <= length) keep(file, length, 0);
  else keep(file, length, (uint64_t)now.st_size - length);
}

int ftruncate(int file, off_t length) {
  keep_tail(file, (uint64_t)length);
  return (int)real("ftruncate")(file, length);
}

int ftruncate64(int file, off64_t length) {
  keep_tail(file, (uint64_t)length);
  return (int)real("ftruncate64")(file, length);
}

int fsync(int file) {
  int result = (int)real("fsync")(file);
  if (result == 0) forget(file);
  return result;
}

int fdatasync(int file) {
  int result = (int)real("fdatasync")(file);
  if (result == 0) forget(file);
  return result;
}
