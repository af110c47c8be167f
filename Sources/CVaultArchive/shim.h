// libarchive, and the few things of it that Swift's importer can't see: casts in macros.
#ifndef CVAULTARCHIVE_SHIM_H
#define CVAULTARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

static const unsigned int cvault_file_type_regular = AE_IFREG;
static const unsigned int cvault_file_type_folder = AE_IFDIR;
static const unsigned int cvault_file_type_symlink = AE_IFLNK;
static const unsigned int cvault_file_type_fifo = AE_IFIFO;
static const unsigned int cvault_file_type_socket = AE_IFSOCK;
static const unsigned int cvault_file_type_block_device = AE_IFBLK;
static const unsigned int cvault_file_type_character_device = AE_IFCHR;

/// A locale that differs from "C" only in the character set, or null where the system lacks it.
static inline locale_t cvault_locale(const char *name) {
    return newlocale(LC_CTYPE_MASK, name, (locale_t)0);
}

#endif
