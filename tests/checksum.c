/* The checksum of a serialized state: FNV-1a, 64 bit. */
#ifdef _WIN32
#define EXPORT __attribute__((dllexport))
#else
#define EXPORT __attribute__((visibility("default")))
#endif

EXPORT unsigned long long checksum(const unsigned char *bytes, unsigned long long count)
{
    unsigned long long value = 0xcbf29ce484222325u;
    for (unsigned long long i = 0; i < count; i++) {
        value = (value ^ bytes[i]) * 0x100000001b3u;
    }
    return value;
}
